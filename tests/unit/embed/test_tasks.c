/* SPDX-License-Identifier: MIT */
/*
 * Goal: a submitted function runs once, or is refused and never runs; its result comes back; a task
 * that is not wanted any more does not begin, and one that runs can see it; a program can wait
 * until a pool is idle.
 *
 * Method: pools of one to four workers, whose tasks count, wait at a gate, or ask whether they are
 * wanted.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define MANY 1000u
#define SUBMITTERS 4u

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct fixture {
    struct hand hand;
    weir_pid pool;
    _Atomic uint32_t ran;
    _Atomic uint32_t refused;
    _Atomic int seen; /* by a task: a status, or that it was not wanted */
};

static void begin_with(struct fixture *f, uint32_t threads, uint32_t workers, uint32_t limit,
                       enum weir_route route)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    hand_begin(&f->hand, threads);
    atomic_init(&f->ran, 0);
    atomic_init(&f->refused, 0);
    atomic_init(&f->seen, 0);
    options.path = "tasks";
    options.workers = workers;
    options.limit = limit;
    options.route = route;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_task_pool(f->hand.runtime, &options, &f->pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, f->pool, wait_limit_ms()), 0);
}

static void begin(struct fixture *f, uint32_t threads, uint32_t workers, uint32_t limit)
{
    begin_with(f, threads, workers, limit, WEIR_ROUTE_PULL);
}

/* Ends the pool, and expects as many tasks done and dead. */
static void finish(struct fixture *f, uint64_t done, uint64_t dead)
{
    struct weir_ledger ledger;

    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.dead, dead);
    hand_finish(&f->hand);
}

static int count(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)task;
    atomic_fetch_add(&f->ran, 1);
    return 0;
}

static int wait_at_gate(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)task;
    return gate_pass(&f->hand.gate) ? 0 : 1;
}

static int fail_with_7(struct weir_task *task, void *argument)
{
    (void)task;
    (void)argument;
    return 7;
}

/* One task is at the gate. */
static void hold(struct fixture *f)
{
    CU_ASSERT_EQUAL(weir_runtime_submit(f->hand.runtime, f->pool, wait_at_gate, f, 0), 0);
    CU_ASSERT_TRUE(gate_await(&f->hand.gate, 1));
}

/* promise E10 */
static void test_submitted_function_runs_once(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_PULL,
                                              WEIR_ROUTE_LEAST_LOADED };
    struct fixture f;

    for (size_t i = 0; i < 3; i++) {
        begin_with(&f, 2, 3, UINT32_MAX, routes[i]);
        for (uint32_t j = 0; j < MANY; j++)
            CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0), 0);
        CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
        CU_ASSERT_EQUAL(atomic_load(&f.ran), MANY);
        finish(&f, MANY, 0);
    }
}

/* promise E10 */
static void test_full_pool_refuses_a_try_and_times_a_wait_out(void)
{
    struct fixture f;

    begin(&f, 1, 1, 2);
    hold(&f);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0), 0);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0), WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 1), WEIR_ETIMEOUT);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 3);
    finish(&f, 4, 0);
}

/* promise E10 */
static void test_function_that_cannot_be_submitted_is_refused(void)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct fixture f;
    weir_pid pid;
    int result;

    begin(&f, 1, 1, 2);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, NULL, &f, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_submit_wait(f.hand.runtime, f.pool, NULL, &f, 0, &result),
                    WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, 12345, count, &f, 0), WEIR_EUNKNOWN);
    options.path = "other";
    options.behaviour = &f.hand.behaviour;
    CU_ASSERT_EQUAL(weir_runtime_add_task_pool(f.hand.runtime, &options, &pid), WEIR_EINVALID);
    options.behaviour = NULL;
    options.route = WEIR_ROUTE_BROADCAST;
    CU_ASSERT_EQUAL(weir_runtime_add_task_pool(f.hand.runtime, &options, &pid), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_close(f.hand.runtime, f.pool), 0);
    CU_ASSERT_NOT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    finish(&f, 0, 0);
}

/* promise E10: a message that is no task does not reach a function. */
static void test_other_message_is_rejected(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct fixture f;

    begin(&f, 1, 1, 2);
    CU_ASSERT_EQUAL(weir_runtime_ask(f.hand.runtime, f.pool,
                                     hand_message(&f.hand, (struct hand_order){ .id = 1 }),
                                     wait_limit_ms(), &answer),
                    WEIR_EREJECTED);
    finish(&f, 0, 1);
}

/* promise E10 */
static void test_result_comes_back(void)
{
    struct fixture f;
    int result = 1;

    begin(&f, 1, 1, 2);
    CU_ASSERT_EQUAL(
        weir_runtime_submit_wait(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER, &result), 0);
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(
        weir_runtime_submit_wait(f.hand.runtime, f.pool, fail_with_7, &f, WEIR_FOR_EVER, &result),
        0);
    CU_ASSERT_EQUAL(result, 7);
    finish(&f, 1, 1);
}

static void *submit_and_wait(void *context)
{
    struct fixture *f = context;
    int result = 1;

    for (uint32_t i = 0; i < MANY / SUBMITTERS; i++) {
        int status = weir_runtime_submit_wait(f->hand.runtime, f->pool, count, f, WEIR_FOR_EVER,
                                              &result);

        if (status != 0 || result != 0)
            atomic_fetch_add(&f->refused, 1);
    }
    return NULL;
}

/* promise E10: the pool has room for fewer tasks than there are threads. */
static void test_tasks_with_results_wait_for_room(void)
{
    pthread_t threads[SUBMITTERS];
    struct fixture f;

    begin(&f, 1, 1, 1);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, submit_and_wait, &f), 0);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&f.refused), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), MANY);
    finish(&f, MANY, 0);
}

/* promise E11: neither while the program waits for room nor in the queue. */
static void test_task_whose_time_is_over_never_begins(void)
{
    struct fixture f;
    int result = 0;

    begin(&f, 1, 1, 1);
    hold(&f);
    CU_ASSERT_EQUAL(weir_runtime_submit_wait(f.hand.runtime, f.pool, count, &f, 1, &result),
                    WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(weir_runtime_submit_wait(f.hand.runtime, f.pool, count, &f, 1, &result),
                    WEIR_ETIMEOUT);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    finish(&f, 1, 1);
}

/* promise E11 */
static void test_cancelled_task_never_begins(void)
{
    struct fixture f;
    uint64_t reference = 0;

    begin(&f, 1, 1, 1);
    hold(&f);
    CU_ASSERT_EQUAL(
        weir_runtime_submit_request(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER, &reference),
        0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, reference), 0);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).dead_by[WEIR_DEAD_CANCELLED], 1);
    finish(&f, 1, 1);
}

/* Comes to the gate, and goes on until it is not wanted. */
static int work_while_wanted(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)gate_pass(&f->hand.gate);
    for (uint64_t end = now_ms() + wait_limit_ms(); weir_task_is_wanted(task) && now_ms() < end;)
        sched_yield();
    atomic_store(&f->seen, weir_task_is_wanted(task) ? 1 : 2);
    return 0;
}

/* promise E11: the end of the time, a cancel, a stop of the pool. */
static void test_running_task_sees_that_it_is_not_wanted(void)
{
    struct fixture f;
    uint64_t reference = 0;

    for (uint32_t how = 0; how < 3; how++) {
        begin(&f, 1, 1, 1);
        CU_ASSERT_EQUAL(weir_runtime_submit_request(f.hand.runtime, f.pool, work_while_wanted, &f,
                                                    how == 0 ? 1 : WEIR_FOR_EVER, &reference),
                        0);
        if (how != 0)
            CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
        gate_open(&f.hand.gate);
        if (how == 1)
            CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, reference), WEIR_ERUNNING);
        if (how == 2)
            CU_ASSERT_EQUAL(weir_runtime_stop_now(f.hand.runtime, f.pool), 0);
        CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, f.pool, wait_limit_ms()), 0);
        CU_ASSERT_NOT_EQUAL(atomic_load(&f.seen), 1);
        CU_ASSERT_TRUE(how == 0 || atomic_load(&f.seen) == 2);
        hand_finish(&f.hand);
    }
}

static int submit_from_a_task(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;
    int result;

    (void)task;
    if (weir_runtime_submit(f->hand.runtime, f->pool, count, f, 0) == 0 &&
        weir_runtime_submit(f->hand.runtime, f->pool, count, f, 1) == WEIR_EDEADLK &&
        weir_runtime_submit_wait(f->hand.runtime, f->pool, count, f, 1, &result) == WEIR_EDEADLK &&
        weir_runtime_wait_idle(f->hand.runtime, f->pool, 1) == WEIR_EDEADLK)
        atomic_store(&f->seen, 1);
    return 0;
}

/* promise E10 */
static void test_task_submits_without_waiting(void)
{
    struct fixture f;

    begin(&f, 1, 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, submit_from_a_task, &f, 0), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 1);
    finish(&f, 2, 0);
}

/* promise E10: as many as there is room for, from the front. */
static void test_many_are_accepted_from_the_front(void)
{
    struct weir_task_call calls[10];
    uint32_t accepted = 99;
    struct fixture f;

    begin(&f, 1, 1, 4);
    hold(&f);
    for (uint32_t i = 0; i < 10; i++)
        calls[i] = (struct weir_task_call){ count, &f };
    CU_ASSERT_EQUAL(weir_runtime_submit_many(f.hand.runtime, f.pool, calls, 10, 0, &accepted),
                    WEIR_EFULL);
    CU_ASSERT_EQUAL(accepted, 4);
    CU_ASSERT_EQUAL(weir_runtime_submit_many(f.hand.runtime, f.pool, calls, 10, 1, &accepted),
                    WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(accepted, 0);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(
        weir_runtime_submit_many(f.hand.runtime, f.pool, calls, 10, WEIR_FOR_EVER, &accepted), 0);
    CU_ASSERT_EQUAL(accepted, 10);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 14);
    finish(&f, 15, 0);
}

/* promise E12: a wait for idleness ends only when nothing waits or runs. */
static void test_busy_pool_is_not_idle(void)
{
    struct fixture f;

    begin(&f, 1, 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, 0), 0);
    hold(&f);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, 1), WEIR_ETIMEOUT);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, WEIR_FOR_EVER), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, 12345, 0), WEIR_EUNKNOWN);
    finish(&f, 1, 0);
}

/* promise E12: again and again, with no other notice than that of the worker. */
static void test_each_wait_for_idleness_ends(void)
{
    struct fixture f;

    begin(&f, 2, 2, 4);
    for (uint32_t i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, WEIR_FOR_EVER), 0);
        CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
        CU_ASSERT_EQUAL(atomic_load(&f.ran), i + 1);
    }
    finish(&f, MANY, 0);
}

/* promise E10: an argument may be gone by then, so the letter has no payload. */
static void test_dead_task_cannot_be_replayed(void)
{
    struct weir_replayed replayed = WEIR_REPLAYED;
    struct fixture f;
    int result;

    begin(&f, 1, 1, 4);
    CU_ASSERT_EQUAL(
        weir_runtime_submit_wait(f.hand.runtime, f.pool, fail_with_7, &f, WEIR_FOR_EVER, &result),
        0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_replay(f.hand.runtime, f.pool, &replayed), 0);
    CU_ASSERT_EQUAL(replayed.replayed, 0);
    CU_ASSERT_EQUAL(replayed.unable, 1);
    finish(&f, 0, 1);
}

/* --- long queues: most of the tasks wait packed ----------------------------------------------- */

#define LONG_QUEUE 5000u

struct numbered {
    struct fixture *f;
    uint32_t number;
};

static int count_in_order(struct weir_task *task, void *argument)
{
    struct numbered *numbered = argument;

    (void)task;
    return atomic_fetch_add(&numbered->f->ran, 1) == numbered->number ? 0 : 1;
}

/* promise E10: the limit is exact, and the tasks run in their order. */
static void test_long_queue_runs_in_order_up_to_its_limit(void)
{
    static struct numbered numbered[LONG_QUEUE];
    struct fixture f;

    begin_with(&f, 1, 1, LONG_QUEUE, WEIR_ROUTE_ROUND_ROBIN);
    hold(&f);
    for (uint32_t i = 0; i < LONG_QUEUE; i++) {
        numbered[i] = (struct numbered){ &f, i };
        CU_ASSERT_EQUAL(
            weir_runtime_submit(f.hand.runtime, f.pool, count_in_order, &numbered[i], 0), 0);
    }
    CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0), WEIR_EFULL);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), LONG_QUEUE);
    finish(&f, LONG_QUEUE + 1, 0);
}

/* promise E10 */
static void test_long_queue_of_a_cancelled_group_never_runs(void)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_group *group;
    struct fixture f;

    begin_with(&f, 1, 1, WEIR_UNLIMITED, WEIR_ROUTE_ROUND_ROBIN);
    hold(&f);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_group_create(f.hand.runtime, 0, &group), 0);
    for (uint32_t i = 0; i < LONG_QUEUE; i++)
        CU_ASSERT_EQUAL(weir_runtime_group_submit(group, f.pool, count, &f, 0), 0);
    weir_runtime_group_cancel(group);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_group_wait(group, wait_limit_ms(), &ended), 0);
    CU_ASSERT_EQUAL(ended.cancelled, LONG_QUEUE);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    weir_runtime_group_destroy(group);
    finish(&f, 1, LONG_QUEUE);
}

/* promise E10 */
static void test_long_queue_is_shared_with_workers_that_come(void)
{
    struct fixture f;

    begin_with(&f, 2, 1, WEIR_UNLIMITED, WEIR_ROUTE_ROUND_ROBIN);
    hold(&f);
    for (uint32_t i = 0; i < LONG_QUEUE; i++)
        CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, count, &f, 0), 0);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 4, NULL), 0);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), LONG_QUEUE);
    finish(&f, LONG_QUEUE + 1, 0);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        { "submitted function runs once", test_submitted_function_runs_once },
        { "full pool refuses a try and times a wait out",
          test_full_pool_refuses_a_try_and_times_a_wait_out },
        { "function that cannot be submitted is refused",
          test_function_that_cannot_be_submitted_is_refused },
        { "other message is rejected", test_other_message_is_rejected },
        { "result comes back", test_result_comes_back },
        { "tasks with results wait for room", test_tasks_with_results_wait_for_room },
        { "task whose time is over never begins", test_task_whose_time_is_over_never_begins },
        { "cancelled task never begins", test_cancelled_task_never_begins },
        { "running task sees that it is not wanted", test_running_task_sees_that_it_is_not_wanted },
        { "task submits without waiting", test_task_submits_without_waiting },
        { "many are accepted from the front", test_many_are_accepted_from_the_front },
        { "busy pool is not idle", test_busy_pool_is_not_idle },
        { "each wait for idleness ends", test_each_wait_for_idleness_ends },
        { "dead task cannot be replayed", test_dead_task_cannot_be_replayed },
        { "long queue runs in order up to its limit",
          test_long_queue_runs_in_order_up_to_its_limit },
        { "long queue of a cancelled group never runs",
          test_long_queue_of_a_cancelled_group_never_runs },
        { "long queue is shared with workers that come",
          test_long_queue_is_shared_with_workers_that_come },
        CU_TEST_INFO_NULL,
    };

    return suite_run("embed_tasks", tests);
}
