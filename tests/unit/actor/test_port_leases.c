/* SPDX-License-Identifier: MIT */
/*
 * Goal: a plugin's own threads take, use and return workers through a port; the lease belongs to
 * the worker whose port it is, and ends with its incarnation, also when it comes too late.
 *
 * Method: a worker hands out its port; a pool of one worker gives leases; the thread of the test is
 * one from outside, and a second one waits.
 */
#include <pthread.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LONG_MS 100000u
#define NOT_YET 1

struct fixture {
    struct rig rig;
    struct probe *owner;  /* of the worker with the port */
    struct probe *member; /* of the pool that gives leases */
    struct pool *owners;
    struct pool *db;
    struct weir_port *port; /* counted: of the present incarnation */
    _Atomic int taken;      /* by the second thread: a status */
};

static int open_port(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    weir_port_unref(f->port);
    f->port = weir_port(self);
    return f->port ? 0 : WEIR_ENOMEM;
}

static struct pool *make_db(struct fixture *f)
{
    struct pool_options options = {
        .path = "db",
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL, .mailbox = 4, .lease = { true, LONG_MS, 1 } }
    };
    struct pool *pool;

    options.spec = rig_spec(f->member);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static bool is_busy(void *context)
{
    return rig_stats(context).busy == 1;
}

static bool is_free(void *context)
{
    struct pool *pool = context;

    return rig_stats(pool).busy == 0 && atomic_load(&pool->pull.sleeping) == 1;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .owner = probe_create(), .member = probe_create() };
    f->owner->opens = open_port;
    f->owner->context = f;
    atomic_init(&f->taken, NOT_YET);
    rig_init(&f->rig, 2, 0);
    f->owners = rig_workers(&f->rig, f->owner, "owners", 1, 8);
    f->db = make_db(f);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_free, f->db));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->owners, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->db, NULL));
    rig_finish(&f->rig);
    weir_port_unref(f->port);
    probe_destroy(f->owner);
    probe_destroy(f->member);
}

static struct weir_message *order(struct fixture *f, struct order order)
{
    struct weir_message *message = weir_port_message_new(f->port, NULL, sizeof order);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    memcpy(message->data, &order, sizeof order);
    return message;
}

/* promise A27 */
static void test_thread_takes_uses_and_returns_a_worker(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_message *late;
    struct weir_lease lease;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(weir_port_take(f.port, f.owners->pid, 0, &lease), WEIR_EUNSUPPORTED);
    CU_ASSERT_EQUAL_FATAL(weir_port_take(f.port, f.db->pid, LONG_MS, &lease), 0);
    CU_ASSERT_EQUAL(lease.pool, f.db->pid);
    CU_ASSERT_EQUAL(weir_port_lease_send(f.port, &lease, order(&f, (struct order){ .id = 1 })), 0);
    CU_ASSERT_EQUAL(weir_port_lease_request(
                        f.port, &lease, order(&f, (struct order){ .act = probe_reply, .id = 2 }),
                        LONG_MS, &answer),
                    0);
    CU_ASSERT_EQUAL(((const struct order *)answer.message->data)->id, 1002);
    weir_port_message_free(f.port, answer.message);
    CU_ASSERT_EQUAL(probe_times(f.member, 1), 1);
    CU_ASSERT_EQUAL(weir_port_lease_renew(f.port, &lease), 0);
    CU_ASSERT_EQUAL(weir_port_return(f.port, &lease, WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_port_return(f.port, &lease, WEIR_DONE), WEIR_EUNKNOWN);
    late = order(&f, (struct order){ .id = 3 });
    CU_ASSERT_EQUAL(weir_port_lease_send(f.port, &lease, late), WEIR_ENOTALLOWED);
    weir_port_message_free(f.port, late);
    finish(&f);
}

static void test_thread_waits_for_a_worker(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_lease lease, other;
    uint64_t reference, refused;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL_FATAL(weir_port_take(f.port, f.db->pid, LONG_MS, &lease), 0);
    CU_ASSERT_EQUAL(weir_port_take(f.port, f.db->pid, 1, &other), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(weir_port_take_begin(f.port, f.db->pid, LONG_MS, &reference), 0);
    CU_ASSERT_EQUAL(weir_port_take_begin(f.port, f.db->pid, LONG_MS, &refused), WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_port_return(f.port, &lease, WEIR_DONE), 0);
    CU_ASSERT_EQUAL_FATAL(weir_port_await(f.port, reference, &answer), 0);
    CU_ASSERT_EQUAL(weir_port_return(f.port, weir_answer_lease(&answer), WEIR_FAIL), 0);
    weir_port_message_free(f.port, answer.message);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, f.db));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    CU_ASSERT_EQUAL(weir_port_take_begin(f.port, f.db->pid, LONG_MS, &reference), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_busy, f.db));
    CU_ASSERT_EQUAL(weir_port_cancel(f.port, reference), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, f.db));
    finish(&f);
}

static int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

static void end_holder(probe_act *how, uint32_t opened)
{
    struct weir_lease lease;
    struct weir_port *port;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL_FATAL(weir_port_take(f.port, f.db->pid, LONG_MS, &lease), 0);
    port = weir_port_ref(f.port);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.owners->pid, (struct order){ .act = how }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, f.db));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), opened);
    CU_ASSERT_EQUAL(weir_port_return(port, &lease, WEIR_DONE), WEIR_ECLOSED);
    weir_port_unref(port);
    finish(&f);
}

/* promise A27 */
static void test_lease_ends_with_the_worker_of_the_port(void)
{
    end_holder(stop, 1);
    end_holder(probe_fail, 2);
}

static void *take_and_note(void *context)
{
    struct fixture *f = context;
    struct weir_port *port = weir_port_ref(f->port);
    struct weir_lease lease;

    atomic_store(&f->taken, weir_port_take(port, f->db->pid, LONG_MS, &lease));
    weir_port_unref(port);
    return NULL;
}

static bool waits(void *context)
{
    return rig_stats(context).queued == 1;
}

static bool has_taken(void *context)
{
    return atomic_load(&((struct fixture *)context)->taken) != NOT_YET;
}

/* A taker that waits when its incarnation ends keeps nothing. promise A27 */
static void test_wait_of_a_closed_port_ends_without_a_lease(void)
{
    const struct order keep_db = { .act = probe_wait };
    pthread_t thread;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.db->pid, keep_db), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, take_and_note, &f), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, waits, f.db));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.owners->pid, (struct order){ .act = stop, .id = 7 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.owners));
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_taken, &f));
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.taken), WEIR_ECLOSED);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, f.db));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 1);
    finish(&f);
}

/* Nobody fetches the answer: the lease does not last until its time-out. promise A27 */
static void test_take_that_has_begun_brings_no_lease_to_the_next_incarnation(void)
{
    const struct order keep_db = { .act = probe_wait };
    uint64_t reference;
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.db->pid, keep_db), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(weir_port_take_begin(f.port, f.db->pid, LONG_MS, &reference), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, waits, f.db));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.owners->pid, (struct order){ .act = stop, .id = 7 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.owners));
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_free, f.db));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "begun", test_take_that_has_begun_brings_no_lease_to_the_next_incarnation },
        { "uses", test_thread_takes_uses_and_returns_a_worker },
        { "waits", test_thread_waits_for_a_worker },
        { "ends", test_lease_ends_with_the_worker_of_the_port },
        { "closed", test_wait_of_a_closed_port_ends_without_a_lease },
        CU_TEST_INFO_NULL,
    };

    return suite_run("port_leases", tests);
}
