/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker of an elastic pool that waits for something has something to do, so it does not
 * leave: an answer, a lease that it holds, a timer that is due once, a delayed message, a kept
 * message, a retry, a thread that waits in a call of its port, or a child with one of these. When
 * that is over it leaves.
 *
 * Method: a table of acts, each done by both workers of a pool without a minimum. The clock moves
 * by many times `idle`, with a check of the pool at each step; then far enough to end each act.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "face/leases.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#include <weir/lease.h>
#include <weir/port_leases.h>
#include <weir/port_tasks.h>
#include <weir/spawn.h>
#include <weir/timer.h>

#define WORKERS 2u
#define THREADS 4u /* the helpers hold two of them */
#define IDLE_MS 1000u
#define ACT_MS 100000u /* each act lasts so long */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct pool *helpers; /* wait at the gate with what they get */
    struct pool *leased;
    struct pool *taken; /* the program holds its workers: takers wait there */
    struct weir_lease leases[WORKERS];
    _Atomic uint32_t threads;
};

/* --- acts ------------------------------------------------------------------------------------- */

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    (void)context;
    (void)reply;
}

static void ticked(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

static int await_answer(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_request(self, f->helpers->pid,
                                 probe_message(self, (struct order){ .act = NULL }), ACT_MS,
                                 answered, NULL, NULL),
                    0);
    return WEIR_DONE;
}

static int hold_lease(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_take(self, f->leased->pid, ACT_MS, answered, NULL, NULL), 0);
    return WEIR_DONE;
}

static int set_timer(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_after(self, ACT_MS, ticked, NULL, NULL), 0);
    return WEIR_DONE;
}

static int send_later(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(
        weir_send_after(self, weir_pid_of(self),
                        probe_message(self, (struct order){ .act = probe_done, .id = 3 }), ACT_MS,
                        NULL),
        0);
    return WEIR_DONE;
}

static int retry_later(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)probe;
    if (message->attempt > 1)
        return WEIR_DONE;
    weir_retry_after(self, ACT_MS);
    return WEIR_RETRY;
}

static int open_by_address(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = *(struct probe *const *)settings;

    return probe->behaviour.open(self, probe, state);
}

/* A child that does the act at its only message. */
static int give_child(struct weir_self *self, struct probe *probe, probe_act *act)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_behaviour behaviour = probe->behaviour;
    struct weir_message *order = probe_message(self, (struct order){ .act = act, .id = 2 });
    weir_pid child;

    behaviour.open = open_by_address;
    behaviour.settings_size = sizeof probe;
    options.behaviour = &behaviour;
    options.settings = &probe;
    options.limit = 8;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &child), 0);
    CU_ASSERT_EQUAL(weir_send(self, child, order), 0);
    return WEIR_DONE;
}

static int child_awaits(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, await_answer);
}

static int child_sets_timer(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, set_timer);
}

static int set_repeating_timer(struct weir_self *self, struct probe *probe,
                               const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_every(self, IDLE_MS, ticked, NULL, NULL), 0);
    return WEIR_DONE;
}

static int idle_child(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, probe_done);
}

/* --- threads, whose time-outs are real time: the test ends what they wait for ------------- */

typedef void thread_act(struct fixture *f, struct weir_port *port);

struct thread {
    struct fixture *f;
    struct weir_port *port;
    thread_act *act;
};

static struct weir_message *order_by(struct weir_port *port)
{
    struct weir_message *message = weir_port_message_new(port, NULL, sizeof(struct order));

    *(struct order *)message->data = (struct order){ .act = NULL };
    return message;
}

static void thread_requests(struct fixture *f, struct weir_port *port)
{
    struct weir_answer answer = WEIR_ANSWER;

    CU_ASSERT_NOT_EQUAL(weir_port_request(port, f->helpers->pid, order_by(port), ACT_MS, &answer),
                        0);
}

static void thread_begins_and_awaits(struct fixture *f, struct weir_port *port)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;

    CU_ASSERT_EQUAL(weir_port_begin(port, f->helpers->pid, order_by(port), ACT_MS, &reference), 0);
    CU_ASSERT_NOT_EQUAL(weir_port_await(port, reference, &answer), 0);
}

static void thread_takes(struct fixture *f, struct weir_port *port)
{
    struct weir_lease lease;

    CU_ASSERT_EQUAL(weir_port_take(port, f->taken->pid, ACT_MS, &lease), 0);
    CU_ASSERT_EQUAL(weir_port_return(port, &lease, WEIR_DONE), 0);
}

static void thread_waits_for_group(struct fixture *f, struct weir_port *port)
{
    struct weir_port_group *group;

    CU_ASSERT_EQUAL(weir_port_group_create(port, 0, &group), 0);
    CU_ASSERT_EQUAL(weir_port_group_send(group, f->helpers->pid, order_by(port), ACT_MS), 0);
    CU_ASSERT_EQUAL(weir_port_group_wait(group, ACT_MS, NULL), 0);
    weir_port_group_destroy(group);
}

static void *run(void *context)
{
    struct thread *thread = context;
    struct fixture *f = thread->f;

    thread->act(f, thread->port);
    weir_port_unref(thread->port);
    free(thread);
    atomic_fetch_sub(&f->threads, 1);
    return NULL;
}

static int start(struct weir_self *self, struct probe *probe, thread_act *act)
{
    struct thread *thread = malloc(sizeof *thread);
    struct fixture *f = probe->context;
    pthread_t id;

    *thread = (struct thread){ f, weir_port(self), act };
    atomic_fetch_add(&f->threads, 1);
    CU_ASSERT_EQUAL(pthread_create(&id, NULL, run, thread), 0);
    CU_ASSERT_EQUAL(pthread_detach(id), 0);
    return WEIR_DONE;
}

static int by_request(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    return start(self, probe, thread_requests);
}

static int by_await(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    return start(self, probe, thread_begins_and_awaits);
}

static int by_take(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    return start(self, probe, thread_takes);
}

static int by_group(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    return start(self, probe, thread_waits_for_group);
}

static int child_by_request(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, by_request);
}

struct row {
    const char *name;
    probe_act *act;
    bool is_used;
    bool by_thread;
};

static const struct row rows[] = {
    { "awaits an answer", await_answer, true, false },
    { "holds a lease", hold_lease, true, false },
    { "has a timer", set_timer, true, false },
    { "sends a delayed message", send_later, true, false },
    { "has a retry", retry_later, true, false },
    { "has a child that awaits an answer", child_awaits, true, false },
    { "has a child with a timer", child_sets_timer, true, false },
    { "has a thread that requests", by_request, true, true },
    { "has a thread that awaits", by_await, true, true },
    { "has a thread that takes", by_take, true, true },
    { "has a thread that waits for a group", by_group, true, true },
    { "has a child with such a thread", child_by_request, true, true },
    { "has a timer that repeats", set_repeating_timer, false, false },
    { "has a child that does nothing", idle_child, false, false },
};

/* --- the fixture ------------------------------------------------------------------------------ */

static struct pool *make_pool(struct fixture *f, struct probe *probe,
                              const struct pool_options *given)
{
    struct pool_options options = *given;
    struct pool *pool;

    options.spec = rig_spec(probe);
    options.size = WORKERS;
    options.settings.mailbox = 8;
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static bool is_unhandled(void *context)
{
    struct pool **pool = context;

    return rig_dead(*pool, DEAD_UNHANDLED) > 0;
}

/* The checks of the pool that were due are over. */
static void look_has_been(struct fixture *f)
{
    uint64_t before = rig_dead(f->pool, DEAD_UNHANDLED);

    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->pool->pid, WEIR_HIGH, (struct order){ .id = 0 }), 0);
    while (rig_dead(f->pool, DEAD_UNHANDLED) == before)
        (void)rig_wait(&f->rig, is_unhandled, &f->pool);
}

static bool is_empty(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, ACT_MS / 8);
    return pool_target(f->pool) == 0;
}

/* All threads wait. */
static bool are_threads_waiting(void *context)
{
    struct fixture *f = context;

    return rig_stats(f->helpers).in_hand + rig_stats(f->helpers).queued +
               rig_stats(f->taken).queued ==
           WORKERS;
}

static bool have_threads_ended(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->threads) == 0;
}

/* The program takes the workers of that pool, or returns them. */
static void hold_all(struct fixture *f, bool take)
{
    struct runtime *runtime = f->rig.runtime;
    int status;

    for (uint32_t i = 0; i < WORKERS; i++) {
        status = take ? runtime_take_wait(runtime, NULL, f->taken->pid, ACT_MS, &f->leases[i])
                      : runtime_lease_return(runtime, LEASE_OF_PROGRAM, &f->leases[i], WEIR_DONE);
        CU_ASSERT_EQUAL(status, 0);
    }
}

static void check_row(const struct row *row)
{
    const struct pool_options elastic = {
        .path = "elastic", .settings = { .size_max = WORKERS, .scale = { true, 0, IDLE_MS } }
    };
    const struct pool_options helpers = { .path = "helpers" };
    const struct pool_options leased = {
        .path = "leased", .settings = { .route = WEIR_ROUTE_PULL, .lease = { true, ACT_MS, 0 } }
    };
    const struct pool_options taken = {
        .path = "taken", .settings = { .route = WEIR_ROUTE_PULL, .lease = { true, 0, 8 } }
    };
    struct fixture f = { .probe = probe_create() };
    struct probe *others = probe_create();

    f.probe->context = &f;
    others->act = probe_wait;
    rig_init(&f.rig, THREADS, 0);
    f.helpers = make_pool(&f, others, &helpers);
    f.leased = make_pool(&f, others, &leased);
    f.taken = make_pool(&f, others, &taken);
    hold_all(&f, true);
    f.pool = make_pool(&f, f.probe, &elastic);
    for (uint32_t i = 0; i < WORKERS; i++)
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, rig_worker(f.pool, i), (struct order){ .act = row->act, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, WORKERS));
    if (row->by_thread)
        CU_ASSERT_TRUE(rig_wait(&f.rig, are_threads_waiting, &f));
    for (uint32_t i = 0; i < 40 && row->is_used; i++) {
        rig_advance(&f.rig, IDLE_MS / 4);
        look_has_been(&f);
    }
    if (row->is_used)
        CU_ASSERT_EQUAL(pool_target(f.pool), WORKERS);
    if (row->by_thread)
        gate_open(&others->gate);
    hold_all(&f, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_empty, &f));
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_threads_ended, &f));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    gate_open(&others->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.helpers, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.leased, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.taken, NULL));
    rig_finish(&f.rig);
    probe_destroy(f.probe);
    probe_destroy(others);
}

/* promise G4 */
static void test_worker_that_waits_for_something_does_not_leave(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t failures = CU_get_number_of_failures();

        check_row(&rows[i]);
        if (CU_get_number_of_failures() > failures)
            (void)fprintf(stderr, "%s\n", rows[i].name);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a worker that waits for something does not leave",
          test_worker_that_waits_for_something_does_not_leave },
        CU_TEST_INFO_NULL,
    };

    return suite_run("scale_used", tests);
}
