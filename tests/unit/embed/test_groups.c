/* SPDX-License-Identifier: MIT */
/*
 * Goal: a group counts how each of its messages ends, and wakes waiting threads when no message is
 * open. No further message begins after a cancel, nor after the first failure if the group asks for
 * that.
 *
 * Method: task pools whose tasks count, fail, and wait at a gate; threads that submit, wait and
 * cancel at the same time.
 */
#include <pthread.h>
#include <sched.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define MANY 2000u
#define SUBMITTERS 3u

struct fixture {
    struct hand hand;
    weir_pid pool;
    struct weir_group *group;
    _Atomic uint32_t ran;
    _Atomic uint32_t accepted;
    _Atomic int seen;
};

static void begin_routed(struct fixture *f, enum weir_route route, uint32_t threads,
                         uint32_t workers)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    hand_begin(&f->hand, threads);
    atomic_init(&f->ran, 0);
    atomic_init(&f->accepted, 0);
    atomic_init(&f->seen, 0);
    options.path = "tasks";
    options.workers = workers;
    options.limit = 8;
    options.route = route;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_task_pool(f->hand.runtime, &options, &f->pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, f->pool, wait_limit_ms()), 0);
}

static void begin(struct fixture *f, uint32_t threads, uint32_t workers, uint32_t flags)
{
    begin_routed(f, WEIR_ROUTE_PULL, threads, workers);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_group_create(f->hand.runtime, flags, &f->group), 0);
}

static void finish(struct fixture *f)
{
    struct weir_ledger ledger;

    weir_runtime_group_destroy(f->group);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    hand_finish(&f->hand);
}

static int count(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)task;
    atomic_fetch_add(&f->ran, 1);
    return 0;
}

static int fail_with_7(struct weir_task *task, void *argument)
{
    (void)task;
    (void)argument;
    return 7;
}

static int wait_at_gate(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)gate_pass(&f->hand.gate);
    atomic_store(&f->seen, weir_task_is_wanted(task) ? 1 : 2);
    return 0;
}

static int fail_behind_the_gate(struct weir_task *task, void *argument)
{
    (void)wait_at_gate(task, argument);
    return -70;
}

static int submit(struct fixture *f, weir_task_function *function)
{
    return weir_runtime_group_submit(f->group, f->pool, function, f, WEIR_FOR_EVER);
}

/* One task of the group is at the gate. */
static void hold(struct fixture *f, weir_task_function *function)
{
    CU_ASSERT_EQUAL(submit(f, function), 0);
    CU_ASSERT_TRUE(gate_await(&f->hand.gate, 1));
}

static struct weir_group_ended wait_for_all(struct fixture *f)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;

    CU_ASSERT_EQUAL(weir_runtime_group_wait(f->group, wait_limit_ms(), &ended), 0);
    CU_ASSERT_EQUAL(ended.open, 0);
    return ended;
}

/* promise E13 */
static void test_group_counts_how_its_tasks_end(void)
{
    struct weir_group_ended ended;
    struct fixture f;

    begin(&f, 2, 2, 0);
    ended = wait_for_all(&f); /* nothing was submitted */
    CU_ASSERT_EQUAL(ended.done + ended.failed + ended.cancelled, 0);
    for (uint32_t round = 1; round <= 3; round++) {
        for (uint32_t i = 0; i < 50; i++)
            CU_ASSERT_EQUAL(submit(&f, i % 10 ? count : fail_with_7), 0);
        ended = wait_for_all(&f);
        CU_ASSERT_EQUAL(atomic_load(&f.ran), 45 * round);
        CU_ASSERT_EQUAL(ended.done, 45 * round);
        CU_ASSERT_EQUAL(ended.failed, 5 * round);
        CU_ASSERT_EQUAL(ended.cancelled, 0);
        CU_ASSERT_EQUAL(ended.first_error, 7);
    }
    finish(&f);
}

/* promise E13 */
static void test_wait_that_times_out_reports_the_figures(void)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct fixture f;

    begin(&f, 1, 1, 0);
    hold(&f, wait_at_gate);
    CU_ASSERT_EQUAL(submit(&f, count), 0);
    CU_ASSERT_EQUAL(weir_runtime_group_wait(f.group, 1, &ended), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(ended.open, 2);
    ended.size = 4;
    CU_ASSERT_EQUAL(weir_runtime_group_wait(f.group, 1, &ended), WEIR_EINVALID);
    gate_open(&f.hand.gate);
    ended = wait_for_all(&f);
    CU_ASSERT_EQUAL(ended.done, 2);
    finish(&f);
}

/* promise E13: nothing begins after the cancel, and what runs can see it. */
static void test_cancelled_group_begins_nothing(void)
{
    struct weir_group_ended ended;
    struct fixture f;

    begin(&f, 1, 1, 0);
    hold(&f, wait_at_gate);
    for (uint32_t i = 0; i < 8; i++)
        CU_ASSERT_EQUAL(submit(&f, count), 0);
    weir_runtime_group_cancel(f.group);
    CU_ASSERT_EQUAL(submit(&f, count), WEIR_ECANCELLED);
    gate_open(&f.hand.gate);
    ended = wait_for_all(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), 2);
    CU_ASSERT_EQUAL(ended.done, 1);
    CU_ASSERT_EQUAL(ended.cancelled, 8);
    CU_ASSERT_EQUAL(ended.failed, 0);
    CU_ASSERT_EQUAL(ended.first_error, 0);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).dead_by[WEIR_DEAD_CANCELLED], 8);
    finish(&f);
}

/* promise E13: only with the flag. */
static void test_first_failure_cancels_the_rest(void)
{
    struct weir_group_ended ended;
    struct fixture f;

    for (uint32_t flags = 0; flags <= WEIR_GROUP_FIRST_ERROR; flags++) {
        begin(&f, 1, 1, flags);
        hold(&f, fail_behind_the_gate);
        for (uint32_t i = 0; i < 8; i++)
            CU_ASSERT_EQUAL(submit(&f, count), 0);
        gate_open(&f.hand.gate);
        ended = wait_for_all(&f);
        CU_ASSERT_EQUAL(ended.first_error, -70);
        CU_ASSERT_EQUAL(ended.failed, 1);
        CU_ASSERT_EQUAL(ended.done, flags ? 0 : 8);
        CU_ASSERT_EQUAL(ended.cancelled, flags ? 8 : 0);
        CU_ASSERT_EQUAL(atomic_load(&f.ran), flags ? 0 : 8);
        finish(&f);
    }
}

/* promise E13: tasks of a pool that is stopped count as failed, with the reason. */
static void test_stopped_pool_ends_the_group(void)
{
    struct weir_group_ended ended;
    struct fixture f;

    begin(&f, 1, 1, 0);
    hold(&f, wait_at_gate);
    CU_ASSERT_EQUAL(submit(&f, count), 0);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(f.hand.runtime, f.pool), 0);
    gate_open(&f.hand.gate);
    ended = wait_for_all(&f);
    CU_ASSERT_EQUAL(ended.done, 1);
    CU_ASSERT_EQUAL(ended.failed, 1);
    CU_ASSERT_EQUAL(ended.first_error, WEIR_EREMOVED);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 0);
    CU_ASSERT_NOT_EQUAL(submit(&f, count), 0); /* it counts nothing that is refused */
    ended = wait_for_all(&f);
    CU_ASSERT_EQUAL(ended.done + ended.failed + ended.cancelled, 2);
    finish(&f);
}

/* promise E13: messages of the program, to workers of its own. */
static void test_group_hears_of_other_messages(void)
{
    static hand_act *const acts[] = { NULL, hand_reject, hand_fail, NULL };
    struct weir_group_ended ended;
    struct fixture f;
    weir_pid workers;

    begin(&f, 1, 1, 0);
    workers = hand_pool(&f.hand, "workers", 1, 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct weir_message *message = hand_message(&f.hand, (struct hand_order){ .act = acts[i] });

        CU_ASSERT_EQUAL(weir_runtime_group_send(f.group, workers, message, WEIR_FOR_EVER), 0);
    }
    ended = wait_for_all(&f);
    CU_ASSERT_EQUAL(ended.done, 2);
    CU_ASSERT_EQUAL(ended.failed, 2);
    CU_ASSERT_EQUAL(ended.first_error, WEIR_EREJECTED);
    finish(&f);
}

static void *submit_many(void *context)
{
    struct fixture *f = context;

    for (uint32_t i = 0; i < MANY; i++)
        if (submit(f, count) == 0)
            atomic_fetch_add(&f->accepted, 1);
    return NULL;
}

/* promise E13: in every order, each accepted task is counted once. */
static void test_cancel_while_others_submit_loses_nothing(void)
{
    struct weir_group_ended ended;
    pthread_t threads[SUBMITTERS];
    struct fixture f;

    begin(&f, 2, 2, 0);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, submit_many, &f), 0);
    while (atomic_load(&f.ran) < 100)
        sched_yield();
    weir_runtime_group_cancel(f.group);
    for (uint32_t i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    ended = wait_for_all(&f);
    CU_ASSERT_EQUAL(ended.done, atomic_load(&f.ran));
    CU_ASSERT_EQUAL(ended.done + ended.cancelled, atomic_load(&f.accepted));
    CU_ASSERT_EQUAL(ended.failed, 0);
    finish(&f);
}

static void *wait_often(void *context)
{
    struct fixture *f = context;

    for (uint32_t i = 0; i < 100; i++)
        if (weir_runtime_group_wait(f->group, wait_limit_ms(), NULL) != 0)
            atomic_store(&f->seen, 3);
    return NULL;
}

/* promise E13: two threads wait while a third one submits task after task. */
static void test_each_wait_ends(void)
{
    pthread_t threads[2];
    struct fixture f;

    begin(&f, 1, 1, 0);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, wait_often, &f), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL(submit(&f, count), 0);
        (void)wait_for_all(&f);
        CU_ASSERT_EQUAL(atomic_load(&f.ran), i + 1);
    }
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), 0);
    finish(&f);
}

static int wait_for_the_group(struct weir_task *task, void *argument)
{
    struct fixture *f = argument;

    (void)task;
    atomic_store(&f->seen, weir_runtime_group_wait(f->group, 1, NULL));
    return 0;
}

/* promise E13 */
static void test_task_cannot_wait_for_its_group(void)
{
    struct fixture f;

    begin(&f, 1, 1, 0);
    CU_ASSERT_EQUAL(submit(&f, wait_for_the_group), 0);
    (void)wait_for_all(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.seen), WEIR_EDEADLK);
    finish(&f);
}

/* promise E13: the tasks of a group that the program has given up go on; also, a runtime that is
 * destroyed with tasks that never began frees their group (seen by AddressSanitizer). */
static void test_destroyed_group_ends_with_its_last_task(void)
{
    struct weir_group *other;
    struct fixture f;

    begin(&f, 1, 1, 0);
    hold(&f, wait_at_gate);
    CU_ASSERT_EQUAL(submit(&f, count), 0);
    weir_runtime_group_destroy(f.group);
    weir_runtime_group_destroy(NULL);
    f.group = NULL;
    CU_ASSERT_EQUAL(weir_runtime_group_create(f.hand.runtime, 0, &other), 0);
    CU_ASSERT_EQUAL(weir_runtime_group_create(f.hand.runtime, 1u << 7, &other), WEIR_EINVALID);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.ran), 1);
    CU_ASSERT_EQUAL(weir_runtime_pause(f.hand.runtime, f.pool), 0);
    weir_runtime_group_destroy(other);
    finish(&f);
}

/* promise E13: what ends in one turn is counted together, yet not after a task that takes long. */
static void test_group_ends_before_the_task_behind_it(void)
{
    struct fixture f;

    begin_routed(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_group_create(f.hand.runtime, 0, &f.group), 0);
    for (int i = 0; i < 2; i++) { /* the second one waits behind the tasks of the group */
        CU_ASSERT_EQUAL(weir_runtime_submit(f.hand.runtime, f.pool, wait_at_gate, &f, 0), 0);
        CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
        if (i == 0) {
            CU_ASSERT_EQUAL(submit(&f, count), 0);
            CU_ASSERT_EQUAL(submit(&f, count), 0);
        }
    }
    gate_admit(&f.hand.gate, 1);
    CU_ASSERT_EQUAL(wait_for_all(&f).done, 2);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 2));
    gate_open(&f.hand.gate);
    finish(&f);
}

/* promise E13: turns of many short tasks, on two threads. */
static void test_group_of_short_tasks_counts_each(void)
{
    struct fixture f;

    begin_routed(&f, WEIR_ROUTE_ROUND_ROBIN, 2, 4);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_group_create(f.hand.runtime, 0, &f.group), 0);
    for (uint64_t round = 1; round <= 50; round++) {
        for (uint32_t i = 0; i < MANY / 20; i++)
            CU_ASSERT_EQUAL(submit(&f, count), 0);
        CU_ASSERT_EQUAL(wait_for_all(&f).done, round * (MANY / 20));
        CU_ASSERT_EQUAL(atomic_load(&f.ran), round * (MANY / 20));
    }
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "counts", test_group_counts_how_its_tasks_end },
        { "time-out", test_wait_that_times_out_reports_the_figures },
        { "cancel", test_cancelled_group_begins_nothing },
        { "first failure", test_first_failure_cancels_the_rest },
        { "stopped pool", test_stopped_pool_ends_the_group },
        { "other messages", test_group_hears_of_other_messages },
        { "cancel while others submit", test_cancel_while_others_submit_loses_nothing },
        { "each wait ends", test_each_wait_ends },
        { "inside", test_task_cannot_wait_for_its_group },
        { "destroyed", test_destroyed_group_ends_with_its_last_task },
        { "before the next", test_group_ends_before_the_task_behind_it },
        { "short tasks", test_group_of_short_tasks_counts_each },
        CU_TEST_INFO_NULL,
    };

    return suite_run("groups", tests);
}
