/* SPDX-License-Identifier: MIT */
/* Runs a function on a pool of two workers, and waits for its result. */
#include <stdio.h>

#include <weir/runtime.h>

static int count_vowels(struct weir_task *task, void *argument)
{
    int count = 0;

    (void)task;
    for (const char *at = argument; *at; at++)
        count += *at == 'a' || *at == 'e' || *at == 'i' || *at == 'o' || *at == 'u';
    return count;
}

int main(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    struct weir_runtime *runtime;
    weir_pid workers;
    int status, vowels = 0;

    options.threads = 2;
    pool.path = "workers";
    pool.workers = 2;
    pool.route = WEIR_ROUTE_PULL; /* one queue: no task waits while a worker is idle */
    if (weir_runtime_create(&options, &runtime) != 0)
        return 70;
    status = weir_runtime_add_task_pool(runtime, &pool, &workers);
    if (status == 0)
        status = weir_runtime_submit_wait(runtime, workers, count_vowels, "embedding", 1000,
                                          &vowels);
    if (status == 0)
        printf("%d vowels\n", vowels);
    else
        printf("no result: %s\n", weir_status_text(status));
    weir_runtime_destroy(runtime);
    return status != 0;
}
