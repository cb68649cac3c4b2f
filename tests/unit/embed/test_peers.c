/* SPDX-License-Identifier: MIT */
/*
 * Goal: cases of the test suites of Go's pools (docs/peers-tests.md) that no other test here shows:
 * tasks run in parallel, pools of tasks change in size while tasks run and wait, close while
 * threads submit, and come again under the same path.
 *
 * Method: tasks stand at a gate; threads submit and wait for room.
 */
#include <pthread.h>
#include <sched.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define WIDTH 4u
#define SUBMITTERS 3u
#define MANY 200u

struct fixture {
    struct hand hand;
    weir_pid pool;
    _Atomic uint32_t ran;
    _Atomic uint32_t accepted;
    _Atomic uint32_t refused; /* with another status than that of a closed pool */
};

static weir_pid add_pool(struct fixture *f, uint32_t workers, uint32_t limit)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid pool = 0;

    options.path = "tasks";
    options.workers = workers;
    options.limit = limit;
    options.route = WEIR_ROUTE_PULL;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_task_pool(f->hand.runtime, &options, &pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, pool, wait_limit_ms()), 0);
    return pool;
}

static void begin(struct fixture *f, uint32_t threads, uint32_t workers, uint32_t limit)
{
    hand_begin(&f->hand, threads);
    atomic_init(&f->ran, 0);
    atomic_init(&f->accepted, 0);
    atomic_init(&f->refused, 0);
    f->pool = add_pool(f, workers, limit);
}

static void finish(struct fixture *f)
{
    struct weir_ledger ledger;

    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, atomic_load(&f->ran));
    CU_ASSERT_EQUAL(ledger.dead, 0);
    hand_finish(&f->hand);
}

static int count(struct weir_task *task, void *argument)
{
    (void)task;
    atomic_fetch_add(&((struct fixture *)argument)->ran, 1);
    return 0;
}

static int wait_at_gate(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)gate_pass(&f->hand.gate);
    return count(task, f);
}

static void *submit_one(void *context)
{
    struct fixture *f = context;

    if (weir_runtime_submit(f->hand.runtime, f->pool, wait_at_gate, f, WEIR_FOR_EVER) == 0)
        atomic_fetch_add(&f->accepted, 1);
    return NULL;
}

/* promises E10 and P12: as many tasks run at the same time as the pool has workers; threads that
 * wait for an idle worker get those of a growth. */
static void test_growth_lets_waiting_submitters_in(void)
{
    pthread_t threads[WIDTH - 1];
    struct fixture f;

    begin(&f, WIDTH, 1, WEIR_UNBUFFERED);
    /* The worker is idle once the turn that opened it has ended. */
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, wait_at_gate, &f, wait_limit_ms()),
                    0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0), WEIR_EFULL);
    for (uint32_t i = 0; i < WIDTH - 1; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, submit_one, &f), 0);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(f.hand.runtime, f.pool, WIDTH, wait_limit_ms(), NULL),
                    0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, WIDTH));
    for (uint32_t i = 0; i < WIDTH - 1; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&f.accepted), WIDTH - 1);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), WIDTH);
    finish(&f);
}

/* promises E10 and P12: tasks wait behind one worker, then three, then two. */
static void test_tasks_wait_for_the_workers_that_the_pool_has(void)
{
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, WIDTH, 1, 10);
    for (uint32_t i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(
            weir_runtime_submit(f.hand.runtime, f.pool, wait_at_gate, &f, WEIR_FOR_EVER), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    stats = hand_stats(&f.hand, f.pool);
    CU_ASSERT_EQUAL(stats.busy, 1);
    CU_ASSERT_EQUAL(stats.queued, 9);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(f.hand.runtime, f.pool, 3, wait_limit_ms(), NULL), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 3));
    stats = hand_stats(&f.hand, f.pool);
    CU_ASSERT_EQUAL(stats.busy, 3);
    CU_ASSERT_EQUAL(stats.queued, 7);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 2, NULL), 0);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).target, 2);
    gate_admit(&f.hand.gate, 3);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(f.hand.runtime, f.pool, 2, wait_limit_ms(), NULL), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 5));
    stats = hand_stats(&f.hand, f.pool);
    CU_ASSERT_EQUAL(stats.busy, 2);
    CU_ASSERT_EQUAL(stats.queued, 5);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 10);
    finish(&f);
}

/* promise E10: also from none. */
static void test_pool_of_tasks_works_after_each_resize(void)
{
    static const uint32_t sizes[] = { 10, 9, 10, 0, 10 };
    struct fixture f;
    int result = 1;

    begin(&f, 2, 10, 4);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CU_ASSERT_EQUAL(
            weir_runtime_resize_wait(f.hand.runtime, f.pool, sizes[i], wait_limit_ms(), NULL), 0);
        CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).live, sizes[i]);
    }
    CU_ASSERT_EQUAL(
        weir_runtime_submit_wait(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER, &result), 0);
    CU_ASSERT_EQUAL(result, 0);
    finish(&f);
}

static bool is_closed(int status)
{
    return status == WEIR_ECLOSED || status == WEIR_ETERMINATED || status == WEIR_EUNKNOWN;
}

static void *submit_until_closed(void *context)
{
    struct fixture *f = context;

    for (;;) {
        int status = weir_runtime_submit(f->hand.runtime, f->pool, count, f, WEIR_FOR_EVER);

        if (status == 0) {
            atomic_fetch_add(&f->accepted, 1);
            continue;
        }
        if (!is_closed(status))
            atomic_fetch_add(&f->refused, 1);
        return NULL;
    }
}

/* promise E10: the pool has room for fewer tasks than there are threads, which wait in turns. */
static void test_pool_that_closes_while_others_submit_runs_what_it_accepted(void)
{
    pthread_t threads[SUBMITTERS];
    struct fixture f;

    begin(&f, 2, 1, 1);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, submit_until_closed, &f), 0);
    while (atomic_load(&f.ran) < MANY)
        (void)sched_yield();
    CU_ASSERT_EQUAL(weir_runtime_close(f.hand.runtime, f.pool), 0);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.refused), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), atomic_load(&f.accepted));
    f.pool = add_pool(&f, 1, 1);
    finish(&f);
}

/* promise E10: each way to submit to a pool that has ended is refused; a pool with the same path
 * takes tasks again. */
static void test_path_of_an_ended_pool_is_used_again(void)
{
    uint64_t reference;
    struct fixture f;
    int result = 1;

    begin(&f, 1, 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_TRUE(is_closed(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0)));
    CU_ASSERT_TRUE(
        is_closed(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER)));
    CU_ASSERT_TRUE(is_closed(
        weir_runtime_submit_wait(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER, &result)));
    CU_ASSERT_TRUE(is_closed(
        weir_runtime_submit_request(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER, &reference)));
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    f.pool = add_pool(&f, 1, 4);
    CU_ASSERT_EQUAL(
        weir_runtime_submit_wait(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER, &result), 0);
    finish(&f);
}

/* Waits until its pool is closed, then submits to it. */
static int submit_when_closed(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)gate_pass(&f->hand.gate);
    if (!is_closed(weir_runtime_submit(f->hand.runtime, f->pool, count, f, 0)))
        atomic_fetch_add(&f->accepted, 1);
    return count(task, f);
}

/* promise E10: a task that runs while its pool closes is refused like any other caller. */
static void test_task_of_a_closing_pool_cannot_submit_to_it(void)
{
    struct fixture f;

    begin(&f, 1, 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, submit_when_closed, &f, 0), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_close(f.hand.runtime, f.pool), 0);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.accepted), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 1);
    CU_ASSERT_TRUE(is_closed(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0)));
    f.pool = add_pool(&f, 1, 1);
    finish(&f);
}

struct numbered {
    struct fixture *f;
    uint32_t number;
    uint32_t ran_as;
};

static int note_turn(struct weir_task *task, void *argument)
{
    struct numbered *numbered = argument;

    numbered->ran_as = atomic_load(&numbered->f->ran);
    return count(task, numbered->f);
}

/* promises S3 and E10 */
static void test_one_worker_runs_tasks_in_the_order_of_their_submission(void)
{
    struct numbered tasks[MANY];
    struct fixture f;

    begin(&f, 2, 1, 4);
    for (uint32_t i = 0; i < MANY; i++) {
        tasks[i] = (struct numbered){ &f, i, MANY };
        CU_ASSERT_EQUAL(
            weir_runtime_submit(f.hand.runtime, f.pool, note_turn, &tasks[i], WEIR_FOR_EVER), 0);
    }
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(tasks[i].ran_as, tasks[i].number);
    finish(&f);
}

static weir_pid add_nested(struct hand *hand, weir_pid above, const char *path)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid pool = 0;

    options.path = path;
    options.parent = above;
    options.workers = 1;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_task_pool(hand->runtime, &options, &pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, pool, wait_limit_ms()), 0);
    return pool;
}

/* promises E10 and P6: the pool above gives its tasks to the others. */
static void test_nested_pool_that_ends_leaves_the_one_above(void)
{
    struct weir_pool_options top = WEIR_POOL_OPTIONS;
    struct fixture f;
    weir_pid above = 0;
    weir_pid one;

    begin(&f, 2, 1, 4);
    top.path = "top";
    top.workers = 0;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f.hand.runtime, &top, &above), 0);
    one = add_nested(&f.hand, above, "top/one");
    (void)add_nested(&f.hand, above, "top/two");
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, one, wait_limit_ms()), 0);
    CU_ASSERT_TRUE(is_closed(weir_runtime_submit(f.hand.runtime, one, count, &f, WEIR_FOR_EVER)));
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, above, count, &f, WEIR_FOR_EVER), 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, above, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 4);
    CU_ASSERT_TRUE(is_closed(weir_runtime_submit(f.hand.runtime, above, count, &f, 0)));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "growth", test_growth_lets_waiting_submitters_in },
        { "size", test_tasks_wait_for_the_workers_that_the_pool_has },
        { "each resize", test_pool_of_tasks_works_after_each_resize },
        { "close", test_pool_that_closes_while_others_submit_runs_what_it_accepted },
        { "again", test_path_of_an_ended_pool_is_used_again },
        { "closing", test_task_of_a_closing_pool_cannot_submit_to_it },
        { "order", test_one_worker_runs_tasks_in_the_order_of_their_submission },
        { "nested", test_nested_pool_that_ends_leaves_the_one_above },
        CU_TEST_INFO_NULL,
    };

    return suite_run("peers", tests);
}
