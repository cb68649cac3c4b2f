/* SPDX-License-Identifier: MIT */
/*
 * Goal: cases of pond's subpools (docs/peers-tests.md), as pools below a pool: each runs as many
 * tasks as it has workers, has a queue and figures of its own, is resized alone and ends alone.
 *
 * Method: pools of tasks below one pool, whose tasks stand at a gate.
 */
#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define POOLS 3u
#define TASKS 10u /* of each pool */
#define MANY 1000u

struct fixture {
    struct hand hand;
    weir_pid above;
    weir_pid pools[POOLS];
    _Atomic uint32_t ran;
};

static weir_pid add_below(struct fixture *f, const char *path, uint32_t workers, uint32_t limit)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid pool = 0;

    options.path = path;
    options.parent = f->above;
    options.workers = workers;
    options.limit = limit;
    options.route = WEIR_ROUTE_PULL;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_task_pool(f->hand.runtime, &options, &pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, pool, wait_limit_ms()), 0);
    return pool;
}

/* Pools of one, two and three workers below one pool. */
static void begin(struct fixture *f, uint32_t limit)
{
    static const char *const paths[POOLS] = { "above/one", "above/two", "above/three" };
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    hand_begin(&f->hand, 6);
    atomic_init(&f->ran, 0);
    options.path = "above";
    options.workers = 0;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &options, &f->above), 0);
    for (uint32_t i = 0; i < POOLS; i++)
        f->pools[i] = add_below(f, paths[i], i + 1, limit);
}

/* Ends all pools, and expects as many tasks done and dead. */
static void finish(struct fixture *f, uint64_t done, uint64_t dead)
{
    struct weir_ledger ledger;

    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->above, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.dead, dead);
    hand_finish(&f->hand);
}

static int count(struct weir_task *task, void *argument)
{
    (void)task;
    atomic_fetch_add(&((struct fixture *)argument)->ran, 1);
    return 0;
}

static int count_and_fail(struct weir_task *task, void *argument)
{
    (void)count(task, argument);
    return 7;
}

static int wait_at_gate(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)gate_pass(&f->hand.gate);
    return count(task, f);
}

static int submit(struct fixture *f, weir_pid pool, weir_task_function *function)
{
    return weir_runtime_submit(f->hand.runtime, pool, function, f, WEIR_FOR_EVER);
}

/* Ten tasks for each pool are accepted, and as many run as there are workers. */
static void fill(struct fixture *f)
{
    for (uint32_t i = 0; i < POOLS; i++)
        for (uint32_t task = 0; task < TASKS; task++)
            CU_ASSERT_EQUAL(submit(f, f->pools[i], wait_at_gate), 0);
    CU_ASSERT_TRUE(gate_await(&f->hand.gate, 1 + 2 + 3));
}

/* promises P3 and E9: a stop of the pool above cancels the tasks that wait in all of them. */
static void test_each_nested_pool_runs_as_many_tasks_as_it_has_workers(void)
{
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, 16);
    fill(&f);
    for (uint32_t i = 0; i < POOLS; i++) {
        stats = hand_stats(&f.hand, f.pools[i]);
        CU_ASSERT_EQUAL(stats.busy, i + 1);
        CU_ASSERT_EQUAL(stats.queued, TASKS - (i + 1));
        CU_ASSERT_EQUAL(stats.done, 0);
    }
    stats = hand_stats(&f.hand, f.above);
    CU_ASSERT_EQUAL(stats.in_hand, 6);
    CU_ASSERT_EQUAL(stats.queued, POOLS * TASKS - 6);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(f.hand.runtime, f.above), 0);
    gate_open(&f.hand.gate);
    finish(&f, 6, POOLS * TASKS - 6);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 6);
}

/* promise P6: the pool above has the sums. */
static void test_figures_of_nested_pools_are_apart_and_add_up(void)
{
    static const uint32_t failing[POOLS] = { 5, 3, 0 };
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, 16);
    for (uint32_t i = 0; i < POOLS; i++)
        for (uint32_t task = 0; task < TASKS; task++)
            CU_ASSERT_EQUAL(submit(&f, f.pools[i], task < failing[i] ? count_and_fail : count), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.above, wait_limit_ms()), 0);
    for (uint32_t i = 0; i < POOLS; i++) {
        stats = hand_stats(&f.hand, f.pools[i]);
        CU_ASSERT_EQUAL(stats.accepted, TASKS);
        CU_ASSERT_EQUAL(stats.done, TASKS - failing[i]);
        CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_REJECTED], failing[i]);
        CU_ASSERT_EQUAL(stats.queued, 0);
    }
    stats = hand_stats(&f.hand, f.above);
    CU_ASSERT_EQUAL(stats.accepted, POOLS * TASKS);
    CU_ASSERT_EQUAL(stats.done, POOLS * TASKS - 8);
    CU_ASSERT_EQUAL(stats.dead, 8);
    CU_ASSERT_EQUAL(stats.queued, 0);
    finish(&f, POOLS * TASKS - 8, 8);
}

/* promise E10: one runs and two wait in the first pool; its neighbours have room. */
static void test_each_nested_pool_has_a_queue_of_its_own(void)
{
    struct weir_pool_stats stats;
    struct fixture f;
    uint32_t refused = 0;

    begin(&f, 2);
    CU_ASSERT_EQUAL(submit(&f, f.pools[0], wait_at_gate), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    for (uint32_t i = 0; i < TASKS; i++) {
        int status = weir_runtime_submit(f.hand.runtime, f.pools[0], count, &f, 0);

        CU_ASSERT_TRUE(status == 0 || status == WEIR_EFULL);
        refused += status == WEIR_EFULL;
    }
    CU_ASSERT_EQUAL(refused, TASKS - 2);
    stats = hand_stats(&f.hand, f.pools[0]);
    CU_ASSERT_EQUAL(stats.busy, 1);
    CU_ASSERT_EQUAL(stats.queued, 2);
    CU_ASSERT_EQUAL(stats.refused, TASKS - 2);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pools[1], count, &f, 0), 0);
    gate_open(&f.hand.gate);
    finish(&f, 4, 0);
}

/* promise P12: one task at a time, then three, then two; the neighbours stay as they are. */
static void test_nested_pool_is_resized_alone(void)
{
    struct weir_pool_stats stats;
    weir_pid pool;
    struct fixture f;

    begin(&f, 16);
    pool = f.pools[0];
    for (uint32_t i = 0; i < TASKS; i++)
        CU_ASSERT_EQUAL(submit(&f, pool, wait_at_gate), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    CU_ASSERT_EQUAL(hand_stats(&f.hand, pool).queued, TASKS - 1);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(f.hand.runtime, pool, 3, wait_limit_ms(), NULL), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 3));
    CU_ASSERT_EQUAL(hand_stats(&f.hand, pool).queued, TASKS - 3);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, pool, 2, NULL), 0);
    gate_admit(&f.hand.gate, 3);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(f.hand.runtime, pool, 2, wait_limit_ms(), NULL), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 5));
    stats = hand_stats(&f.hand, pool);
    CU_ASSERT_EQUAL(stats.busy, 2);
    CU_ASSERT_EQUAL(stats.queued, TASKS - 5);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pools[1]).target, 2);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pools[2]).target, 3);
    gate_open(&f.hand.gate);
    finish(&f, TASKS, 0);
}

/* promises E7 and E10 */
static void test_nested_pool_that_is_closed_runs_what_it_accepted(void)
{
    struct fixture f;

    begin(&f, 4);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(submit(&f, f.pools[1], count), 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, f.pools[1], wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), MANY);
    CU_ASSERT_NOT_EQUAL(submit(&f, f.pools[1], count), 0);
    CU_ASSERT_EQUAL(submit(&f, f.above, count), 0);
    finish(&f, MANY + 1, 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), MANY + 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "width", test_each_nested_pool_runs_as_many_tasks_as_it_has_workers },
        { "figures", test_figures_of_nested_pools_are_apart_and_add_up },
        { "queue", test_each_nested_pool_has_a_queue_of_its_own },
        { "size", test_nested_pool_is_resized_alone },
        { "close", test_nested_pool_that_is_closed_runs_what_it_accepted },
        CU_TEST_INFO_NULL,
    };

    return suite_run("subpools", tests);
}
