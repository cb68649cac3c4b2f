/*
 * Goal: waiters for room are woken at the end of the turn that made it; when the actor is quick and
 * has more to do, at the end of its next turn, for the room of both.
 *
 * Method: turns of four messages, taken by the test, a full mailbox of twelve, and a waiter of its
 * own; a slow handler moves the clock.
 */
#include "actor/credit.h"

#include "actor/find.h"
#include "actor/room_queue.h"
#include "dispatch/layout.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define BUDGET 4u
#define LIMIT 12u
#define STEPS_MAX 1000u
#define SLOW_NS 1000000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct waiter waiter;
    uint32_t wakes;
};

static bool is_open(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->opened) == 1;
}

static bool has_ended(void *context)
{
    return pool_has_ended(((struct fixture *)context)->pool);
}

static void count_wake(struct waiter *waiter, struct executor *executor)
{
    struct fixture *f = (struct fixture *)(void *)((char *)waiter -
                                                   offsetof(struct fixture, waiter));

    (void)executor;
    f->wakes++;
}

/* A worker with a full mailbox of orders, and the waiter in line for all of it. */
static void begin(struct fixture *f, probe_act *act)
{
    struct pool_options options = { .path = "pool", .size = 1, .settings.mailbox = LIMIT };
    struct executor *executor;
    struct wait_queue *queue;
    struct spec *spec;

    *f = (struct fixture){ .probe = probe_create() };
    f->probe->context = &f->rig;
    rig_init_still(&f->rig, 1, BUDGET);
    options.spec = spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_step(&f->rig, is_open, f, STEPS_MAX));
    while (executor_step(dispatcher_executor(f->rig.dispatcher, 0)))
        ;
    for (uint32_t i = 0; i < LIMIT; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = act }), 0);
    waiter_init(&f->waiter, count_wake);
    executor = runtime_enter(f->rig.runtime);
    queue = room_queue_of(actor_find(f->rig.runtime, f->pool->pid));
    wait_queue_join(queue, &f->waiter, LIMIT, executor);
    runtime_leave(executor);
}

static void finish(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    wait_queue_leave(&f->waiter, executor);
    runtime_leave(executor);
    rig_close(&f->rig, f->pool);
    CU_ASSERT_TRUE(rig_step(&f->rig, has_ended, f, STEPS_MAX));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Takes turns until so many orders have been handled. */
static void handle(struct fixture *f, uint32_t count)
{
    struct executor *executor = dispatcher_executor(f->rig.dispatcher, 0);

    for (uint32_t i = 0; i < STEPS_MAX && probe_count(f->probe) < count; i++)
        (void)executor_step(executor);
    CU_ASSERT_EQUAL(probe_count(f->probe), count);
}

static int take_long(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct rig *rig = probe->context;

    (void)self;
    (void)message;
    atomic_fetch_add(&rig->now_ns, SLOW_NS);
    return WEIR_DONE;
}

static void test_quick_worker_wakes_for_two_turns_at_once(void)
{
    struct fixture f;

    begin(&f, NULL);
    handle(&f, BUDGET);
    CU_ASSERT_EQUAL(f.wakes, 0);
    handle(&f, 2 * BUDGET);
    CU_ASSERT_EQUAL(f.wakes, 1);
    CU_ASSERT_EQUAL(atomic_load(&f.waiter.granted), 2 * BUDGET);
    handle(&f, LIMIT);
    CU_ASSERT_EQUAL(atomic_load(&f.waiter.granted), LIMIT);
    finish(&f);
}

static void test_slow_worker_wakes_after_each_turn(void)
{
    struct fixture f;

    begin(&f, take_long);
    for (uint32_t i = 0; i < STEPS_MAX && f.wakes == 0; i++)
        (void)executor_step(dispatcher_executor(f.rig.dispatcher, 0));
    CU_ASSERT_EQUAL(f.wakes, 1);
    CU_ASSERT_TRUE(probe_count(f.probe) <= BUDGET);
    CU_ASSERT_EQUAL(atomic_load(&f.waiter.granted), probe_count(f.probe));
    finish(&f);
}

/* The worker closes before the turn to which it has left the waiter. */
static void test_worker_that_closes_wakes_the_waiters(void)
{
    struct fixture f;

    begin(&f, NULL);
    handle(&f, BUDGET);
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(rig_step(&f.rig, has_ended, &f, STEPS_MAX));
    CU_ASSERT_TRUE(f.wakes > 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "quick", test_quick_worker_wakes_for_two_turns_at_once },
        { "slow", test_slow_worker_wakes_after_each_turn },
        { "closes", test_worker_that_closes_wakes_the_waiters },
        CU_TEST_INFO_NULL,
    };

    return suite_run("credit", tests);
}
