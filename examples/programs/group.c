/* SPDX-License-Identifier: MIT */
/* Runs a function once for each number, and waits for all of them together. */
#include <inttypes.h>
#include <stdio.h>

#include <weir/runtime.h>

#define COUNT 1000

static int square(struct weir_task *task, void *argument)
{
    uint64_t *number = argument;

    (void)task;
    *number *= *number;
    return 0;
}

int main(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    static uint64_t numbers[COUNT]; /* each belongs to its task until the wait is over */
    struct weir_runtime *runtime;
    struct weir_group *group;
    weir_pid workers;
    uint64_t sum = 0;

    options.threads = WEIR_THREADS_AUTO;
    pool.path = "workers";
    pool.workers = 4;
    pool.limit = 8; /* when 4 * 8 numbers wait, the next submit waits for room */
    pool.route = WEIR_ROUTE_PULL;
    if (weir_runtime_create(&options, &runtime) != 0 ||
        weir_runtime_add_task_pool(runtime, &pool, &workers) != 0 ||
        weir_runtime_group_create(runtime, WEIR_GROUP_FIRST_ERROR, &group) != 0)
        return 70;
    for (uint64_t i = 0; i < COUNT; i++) {
        numbers[i] = i;
        if (weir_runtime_group_submit(group, workers, square, &numbers[i], WEIR_FOR_EVER) != 0)
            break; /* a task has failed, so the group is cancelled */
    }
    (void)weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended);
    for (uint64_t i = 0; i < COUNT; i++)
        sum += numbers[i];
    printf("%" PRIu64 " done, %" PRIu64 " failed, sum %" PRIu64 "\n", ended.done, ended.failed,
           sum);
    weir_runtime_group_destroy(group);
    weir_runtime_destroy(runtime);
    return ended.failed > 0;
}
