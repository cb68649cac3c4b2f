/* SPDX-License-Identifier: MIT */
/*
 * Goal: a plugin's own threads reach its actor through a port, settle and answer kept messages, and
 * are refused without harm once the incarnation, the actor or the runtime has ended.
 *
 * Method: workers keep messages and hand out their ports; threads use the ports while the workers
 * are replaced, and after the runtime is gone.
 */
#include "actor/port.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "actor/external_await.h"
#include "actor/external_request.h"
#include "message/blob.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    _Atomic(struct weir_port *) port;          /* of the latest incarnation, counted */
    _Atomic(const struct weir_message *) kept; /* the latest */
    _Atomic bool over;
};

/* --- what the workers do -------------------------------------------------------------------- */

static int open_port(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;
    struct weir_port *again = weir_port(self);
    struct weir_port *port = weir_port(self);

    CU_ASSERT_PTR_EQUAL(port, again); /* one an incarnation */
    weir_port_unref(again);
    weir_port_unref(atomic_exchange(&f->port, port));
    return 0;
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)self;
    atomic_store(&f->kept, message);
    (void)gate_pass(&probe->gate);
    return WEIR_KEEP;
}

static int note_sender(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)self;
    probe_note(probe, message->from);
    return WEIR_DONE;
}

static void begin(struct fixture *f, uint32_t threads)
{
    *f = (struct fixture){ .probe = probe_create() };
    f->probe->opens = open_port;
    f->probe->context = f;
    gate_open(&f->probe->gate);
    rig_init(&f->rig, threads, 0);
}

static void finish(struct fixture *f)
{
    weir_port_unref(atomic_load(&f->port));
    probe_destroy(f->probe);
}

static struct weir_message *order_through(struct weir_port *port, struct order order)
{
    struct weir_message *message = weir_port_message_new(port, NULL, sizeof order);

    if (message)
        memcpy(message->data, &order, sizeof order);
    return message;
}

/* Keeps one message, and knows it. */
static void keep_one(struct fixture *f, struct pool *pool, uint64_t id)
{
    uint32_t arrived = f->probe->gate.arrived;

    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .act = keep, .id = id }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, arrived + 1));
}

static void all_calls_are_closed(struct weir_port *port)
{
    struct weir_answer answer = WEIR_ANSWER;
    char nobody[sizeof(struct weir_message)];
    const struct weir_message *kept = (const struct weir_message *)(const void *)nobody;

    CU_ASSERT_PTR_NULL(weir_port_message_new(port, NULL, 8));
    CU_ASSERT_EQUAL(weir_port_settle(port, kept, WEIR_DONE, 0, NULL), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_request(port, 1, NULL, 1, &answer), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_reply(port, kept, NULL), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_send(port, 0, NULL), WEIR_ECLOSED);
    weir_port_message_free(port, NULL);
}

/* --- while it lives ------------------------------------------------------------------------- */

/* promise A15: the thread of the test is one from outside. */
static void test_thread_reaches_its_actor_and_others(void)
{
    struct fixture f;
    struct pool *pool;
    struct weir_message *message;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 1);
    message = order_through(f.port, (struct order){ .id = 5 });
    CU_ASSERT_EQUAL(weir_port_send(f.port, 0, message), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 5, 1));
    message = order_through(f.port, (struct order){ .act = note_sender, .id = 6 });
    CU_ASSERT_EQUAL(weir_port_send(f.port, pool->pid, message), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, rig_worker(pool, 0), 1));
    message = order_through(f.port, (struct order){ .id = 7 });
    CU_ASSERT_EQUAL(weir_port_send(f.port, 12345, message), WEIR_EUNKNOWN);
    weir_port_message_free(f.port, message);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    rig_finish(&f.rig);
    finish(&f);
}

/* promise A15: in_hand is 1, so that the next message waits for the settling. */
static void test_kept_message_is_settled_from_a_thread(void)
{
    const struct weir_message stranger = { .size = 0 };
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *pool;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    keep_one(&f, pool, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(weir_port_settle(f.port, f.kept, WEIR_KEEP, 0, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0);
    CU_ASSERT_EQUAL(weir_port_settle(f.port, f.kept, WEIR_DONE, 0, NULL), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, pool));
    keep_one(&f, pool, 3);
    /* A message that is not kept does not belong to the worker. */
    CU_ASSERT_EQUAL(weir_port_settle(f.port, &stranger, WEIR_DONE, 0, NULL), 0);
    CU_ASSERT_EQUAL(weir_port_settle(f.port, f.kept, WEIR_REJECT, 0, "not good"), 0);
    /* Once more is nothing more. */
    CU_ASSERT_EQUAL(weir_port_settle(f.port, f.kept, WEIR_DONE, 0, NULL), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, pool));
    CU_ASSERT_EQUAL(rig_dead(pool, DEAD_REJECTED), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 2);
    CU_ASSERT_EQUAL(ledger.dead, 1);
    rig_finish(&f.rig);
    finish(&f);
}

static uint64_t ask(struct fixture *f, struct pool *pool, struct order order)
{
    const struct external_request_options options = { .to = pool->pid, .timeout_ms = UINT64_MAX };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof order);
    uint64_t reference = 0;

    memcpy(message->public.data, &order, sizeof order);
    CU_ASSERT_EQUAL(external_request_send(f->rig.runtime, executor, &options, message, &reference),
                    0);
    runtime_leave(executor);
    return reference;
}

/* promise A15 */
static void test_kept_request_is_answered_from_a_thread(void)
{
    struct external_request_answer answer;
    struct fixture f;
    struct pool *pool;
    uint64_t reference;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    reference = ask(&f, pool, (struct order){ .act = keep, .id = 1 });
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(
        weir_port_reply(f.port, f.kept, order_through(f.port, (struct order){ .id = 77 })), 0);
    CU_ASSERT_EQUAL(
        weir_port_reply(f.port, f.kept, order_through(f.port, (struct order){ .id = 78 })), 0);
    CU_ASSERT_EQUAL(weir_port_settle(f.port, f.kept, WEIR_DONE, 0, NULL), 0);
    CU_ASSERT_EQUAL(external_requests_await(f.rig.runtime->external_requests, reference, &answer),
                    0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer.reply);
    CU_ASSERT_EQUAL(probe_order(&answer.reply->public)->id, 77);
    weir_port_message_free(f.port, &answer.reply->public);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    rig_finish(&f.rig);
    finish(&f);
}

static int request_inside(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_answer answer = WEIR_ANSWER;

    (void)self;
    (void)message;
    probe_note(probe, (uint64_t)-weir_port_request(f->port, weir_pool(self),
                                                   order_through(f->port, (struct order){ 0 }),
                                                   UINT64_MAX, &answer));
    return WEIR_DONE;
}

/* promises A15 and E6 */
static void test_thread_asks_through_the_port_and_waits(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct fixture f;
    struct pool *pool;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    CU_ASSERT_EQUAL(
        weir_port_request(f.port, pool->pid,
                          order_through(f.port, (struct order){ .act = probe_reply, .id = 5 }),
                          UINT64_MAX, &answer),
        0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer.message);
    CU_ASSERT_EQUAL(probe_order(answer.message)->id, 1005);
    weir_port_message_free(f.port, answer.message);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .act = request_inside, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, (uint64_t)-WEIR_EDEADLK, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    rig_finish(&f.rig);
    finish(&f);
}

/* --- after its end -------------------------------------------------------------------------- */

/* promise A15 */
static void test_port_of_an_ended_incarnation_is_closed(void)
{
    struct fixture f;
    struct pool *pool;
    struct weir_port *old;
    struct weir_message *message;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    old = weir_port_ref(f.port);
    message = order_through(old, (struct order){ .id = 1 });
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .act = probe_fail, .id = 9 }), 0);
    while (atomic_load(&f.probe->opened) < 2)
        (void)sched_yield();
    all_calls_are_closed(old);
    CU_ASSERT_EQUAL(weir_port_send(old, 0, message), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_send(f.port, 0, message), 0); /* the next one's works */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    weir_port_unref(old);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    all_calls_are_closed(f.port);
    rig_finish(&f.rig);
    finish(&f);
}

/* promise A15: the memory of a message from the port is given back without the runtime. */
static void test_port_outlives_the_runtime(void)
{
    struct weir_message *message;
    struct fixture f;
    struct pool *pool;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    message = order_through(f.port, (struct order){ .id = 1 });
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    rig_finish(&f.rig);
    all_calls_are_closed(f.port);
    CU_ASSERT_EQUAL(weir_port_send(f.port, 0, message), WEIR_ECLOSED);
    weir_port_message_free(f.port, message);
    finish(&f);
}

/* Answers with its argument: a blob. */
static int reply_blob(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct weir_blob *blob = (struct weir_blob *)(uintptr_t)probe_order(message)->argument;

    (void)probe;
    return weir_reply(self, (struct weir_message *)(uintptr_t)message,
                      weir_message_with_blob(self, NULL, blob)) == 0
               ? WEIR_DONE
               : WEIR_FAIL;
}

static struct weir_message *answer_to(struct fixture *f, struct pool *pool, struct order order)
{
    struct weir_answer answer = WEIR_ANSWER;

    CU_ASSERT_EQUAL(
        weir_port_request(f->port, pool->pid, order_through(f->port, order), UINT64_MAX, &answer),
        0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer.message);
    return answer.message;
}

/* promises A15 and S10: the answer's resources are released, too. */
static void test_answer_is_freed_whole_by_a_port_that_is_closed(void)
{
    struct blob *blob = blob_create(64);
    struct weir_message *shared, *counted;
    struct memory *memory;
    struct fixture f;
    struct pool *pool;
    uint64_t taken;

    begin(&f, 2);
    memory = f.rig.runtime->memory;
    memory_set_limit(memory, 64u << 20);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    shared = answer_to(&f, pool, (struct order){ reply_blob, 1, (uint64_t)(uintptr_t)blob });
    counted = answer_to(&f, pool, (struct order){ probe_reply, 2, 0 });
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    all_calls_are_closed(f.port);
    CU_ASSERT_EQUAL(atomic_load(&blob->references), 2);
    weir_port_message_free(f.port, shared);
    CU_ASSERT_EQUAL(atomic_load(&blob->references), 1);
    CU_ASSERT_EQUAL(runtime_stop(f.rig.runtime), 0); /* no other thread takes or gives memory */
    taken = atomic_load(&memory->taken);
    weir_port_message_free(f.port, counted);
    CU_ASSERT_TRUE(atomic_load(&memory->taken) < taken);
    rig_finish(&f.rig);
    blob_unref(blob);
    finish(&f);
}

/* --- all at once ---------------------------------------------------------------------------- */

static void *use_without_end(void *context)
{
    struct fixture *f = context;
    struct weir_port *port = weir_port_ref(atomic_load(&f->port));

    while (!atomic_load(&f->over)) {
        struct weir_message *message = order_through(port, (struct order){ .id = 2 });

        if (message && weir_port_send(port, 0, message) != 0)
            weir_port_message_free(port, message);
        (void)weir_port_settle(port, atomic_load(&f->kept), WEIR_DONE, 0, NULL);
    }
    weir_port_unref(port);
    return NULL;
}

/* promise A15: threads are inside while the incarnation fails and while the runtime is destroyed
 * with the worker in it. */
static void test_threads_use_a_port_while_everything_ends(void)
{
    pthread_t threads[4];
    struct fixture f;
    struct pool *pool;
    struct executor *executor;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    keep_one(&f, pool, 1);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, use_without_end, &f), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 10));
    while (rig_send(&f.rig, pool->pid, (struct order){ .act = probe_fail, .id = 9 }) != 0)
        (void)sched_yield();
    while (atomic_load(&f.probe->opened) < 2)
        (void)sched_yield();
    for (int i = 2; i < 4; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, use_without_end, &f), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 20));
    /* Nothing was ended: the second incarnation's port is closed by the destruction. */
    CU_ASSERT_EQUAL(runtime_stop(f.rig.runtime), 0);
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(pool, executor);
    runtime_leave(executor);
    runtime_destroy(f.rig.runtime);
    all_calls_are_closed(f.port);
    atomic_store(&f.over, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    finish(&f);
}

/* promise A15: the pool is destroyed before the runtime, and a sender would find it by its PID. */
static void test_port_is_closed_before_its_pool_is_destroyed(void)
{
    struct fixture f;
    struct pool *pool;
    struct weir_message *message;
    struct executor *executor;
    weir_pid pid;

    begin(&f, 2);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    pid = pool->pid;
    keep_one(&f, pool, 1);
    message = order_through(f.port, (struct order){ .id = 2 });
    CU_ASSERT_EQUAL(runtime_stop(f.rig.runtime), 0);
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(pool, executor);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(weir_port_send(f.port, pid, message), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_send(f.port, 0, message), WEIR_ECLOSED);
    weir_port_message_free(f.port, message);
    all_calls_are_closed(f.port);
    runtime_destroy(f.rig.runtime);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "send", test_thread_reaches_its_actor_and_others },
        { "settle", test_kept_message_is_settled_from_a_thread },
        { "reply", test_kept_request_is_answered_from_a_thread },
        { "request", test_thread_asks_through_the_port_and_waits },
        { "ended", test_port_of_an_ended_incarnation_is_closed },
        { "outlives", test_port_outlives_the_runtime },
        { "whole", test_answer_is_freed_whole_by_a_port_that_is_closed },
        { "stopped", test_port_is_closed_before_its_pool_is_destroyed },
        { "all at once", test_threads_use_a_port_while_everything_ends },
        CU_TEST_INFO_NULL,
    };

    return suite_run("port", tests);
}
