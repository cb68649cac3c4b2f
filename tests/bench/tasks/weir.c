/* SPDX-License-Identifier: MIT */
/* libweir: a group, one submit for each task. */
#include <weir/runtime.h>

#include "job.h"

static struct job job;

static int run(struct weir_task *task, void *argument)
{
    (void)task;
    job_work(&job, argument);
    return 0;
}

int main(int argc, char **argv)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    struct weir_runtime *runtime;
    struct weir_group *group;
    weir_pid pid;

    job_begin(&job, argc, argv);
    options.threads = job.threads;
    pool.path = "tasks";
    pool.workers = job.threads;
    pool.limit = WEIR_UNLIMITED;
    if (weir_runtime_create(&options, &runtime) != 0 ||
        weir_runtime_add_task_pool(runtime, &pool, &pid) != 0 ||
        weir_runtime_wait_open(runtime, pid, WEIR_FOR_EVER) != 0 ||
        weir_runtime_group_create(runtime, 0, &group) != 0)
        return 70;
    job_start(&job);
    for (uint64_t i = 0; i < job.count; i++)
        if (weir_runtime_group_submit(group, pid, run, &job.results[i], WEIR_FOR_EVER) != 0)
            return 70;
    job_submitted(&job);
    (void)weir_runtime_group_wait(group, WEIR_FOR_EVER, NULL);
    weir_runtime_group_destroy(group);
    weir_runtime_destroy(runtime);
    return job_end(&job);
}
