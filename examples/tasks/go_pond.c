/* SPDX-License-Identifier: MIT */
/* The calls of pond: go.h. */
#include "go.h"

static void use_group(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_group *group;
    int numbers[100];

    /* group, context := pool.GroupContext(parent) */
    EXPECT(weir_runtime_group_create(runtime, WEIR_GROUP_FIRST_ERROR, &group) == 0);
    /* group.Submit(...) */
    for (int i = 0; i < 100; i++) {
        numbers[i] = i;
        EXPECT(weir_runtime_group_submit(group, pool, square, &numbers[i], WEIR_FOR_EVER) == 0);
    }
    /* err := group.Wait() */
    EXPECT(weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended) == 0);
    EXPECT(ended.done == 100 && ended.first_error == 0 && numbers[9] == 81);
    /* the first error cancels the context, and what has not begun */
    EXPECT(weir_runtime_group_submit(group, pool, fail, NULL, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended) == 0);
    EXPECT(ended.first_error == 7);
    EXPECT(weir_runtime_group_submit(group, pool, fail, NULL, 0) == WEIR_ECANCELLED);
    weir_runtime_group_destroy(group);
    /* pool.StopAndWait() */
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

/* group.Stop() */
static void stop_group(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_group *group;
    _Atomic int ran = 0;

    EXPECT(weir_runtime_group_create(runtime, 0, &group) == 0);
    weir_runtime_group_cancel(group);
    EXPECT(weir_runtime_group_submit(group, pool, count, &ran, 0) == WEIR_ECANCELLED);
    EXPECT(weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended) == 0);
    weir_runtime_group_destroy(group);
    EXPECT(atomic_load(&ran) == 0);
}

static void use_task(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_answer answer = WEIR_ANSWER;
    int number = 5, result;
    uint64_t task;

    /* task := pool.Submit(...) */
    EXPECT(weir_runtime_submit_request(runtime, pool, square, &number, WEIR_FOR_EVER, &task) == 0);
    /* err := task.Wait() */
    EXPECT(weir_runtime_await(runtime, task, &answer) == 0);
    result = weir_task_result(&answer);
    weir_runtime_message_free(runtime, answer.message);
    EXPECT(result == 0 && number == 25);
    /* pool.SubmitAndWait(...) */
    EXPECT(weir_runtime_submit_wait(runtime, pool, square, &number, WEIR_FOR_EVER, &result) == 0);
    EXPECT(result == 0 && number == 625);
}

/* A pool of one worker, which is busy, with one task that waits. */
static void read_figures(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct gate gate = { false, false };
    _Atomic int ran = 0;
    weir_pid pool;

    /* pond.New(1, 1) */
    options.path = "figures";
    options.workers = 1;
    options.limit = 1;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    /* pool.Submit(...) */
    EXPECT(weir_runtime_submit(runtime, pool, wait_at_gate, &gate, WEIR_FOR_EVER) == 0);
    await_arrival(&gate);
    EXPECT(weir_runtime_submit(runtime, pool, fail, NULL, WEIR_FOR_EVER) == 0);
    /* pool.TrySubmit(...) */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) == WEIR_EFULL);
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    /* pool.Running(), pool.Idle() */
    EXPECT(stats.live == 1 && stats.idle == 0);
    /* pool.Submitted(), pool.Completed(), pool.WaitingTasks(), dropped tasks */
    EXPECT(stats.accepted == 2 && stats.done + stats.dead == 0 && stats.queued == 1);
    EXPECT(stats.refused >= 1); /* also tries of a call that then waits */
    atomic_store(&gate.open, true);
    EXPECT(weir_runtime_wait_idle(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    /* failed tasks, cancelled tasks */
    EXPECT(stats.dead_by[WEIR_DEAD_REJECTED] == 1 && stats.dead_by[WEIR_DEAD_CANCELLED] == 0);
    /* pool.Stop(), pool.StopAndWait() */
    EXPECT(weir_runtime_close(runtime, pool) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

void like_pond(struct weir_runtime *runtime)
{
    weir_pid pool = make_pool(runtime, "tasks");

    use_task(runtime, pool);
    stop_group(runtime, pool);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
    use_group(runtime, make_pool(runtime, "pond"));
    read_figures(runtime);
}
