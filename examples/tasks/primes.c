/* SPDX-License-Identifier: MIT */
/*
 * primes NUMBER...: 0 when all are prime, 1 when one is not, which is named on standard output.
 * The first composite number cancels the checks that have not begun, and stops those that run.
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/runtime.h>

static int check(struct weir_task *task, void *argument)
{
    uint64_t number = strtoull(argument, NULL, 10);

    for (uint64_t divisor = 2; divisor <= number / divisor; divisor++) {
        if (number % divisor == 0) {
            printf("%s is not prime\n", (char *)argument);
            return 1;
        }
        if (divisor % 4096 == 0 && !weir_task_is_wanted(task))
            return 0;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_runtime *runtime;
    struct weir_group *group;
    weir_pid checks;

    options.threads = 4;
    pool.path = "checks";
    pool.workers = 4;
    pool.limit = 4; /* for each worker: the main thread waits when 16 numbers wait */
    pool.route = WEIR_ROUTE_PULL;
    if (weir_runtime_create(&options, &runtime) != 0 ||
        weir_runtime_add_task_pool(runtime, &pool, &checks) != 0 ||
        weir_runtime_group_create(runtime, WEIR_GROUP_FIRST_ERROR, &group) != 0)
        return 70;
    for (int i = 1; i < argc; i++)
        if (weir_runtime_group_submit(group, checks, check, argv[i], WEIR_FOR_EVER) != 0)
            break; /* the group is cancelled */
    (void)weir_runtime_group_wait(group, WEIR_FOR_EVER, &ended);
    weir_runtime_group_destroy(group);
    weir_runtime_destroy(runtime);
    return ended.failed > 0;
}
