/* SPDX-License-Identifier: MIT */
// oneTBB: a task_group in an arena of THREADS threads beside the one that submits.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "job.h"

int main(int argc, char **argv)
{
    struct job job;
    tbb::task_group group;

    job_begin(&job, argc, argv);
    // Otherwise it has no more workers than there are other CPUs.
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, job.threads + 1);
    tbb::task_arena arena(static_cast<int>(job.threads) + 1, 1);
    arena.execute([&] {
        job_start(&job);
        for (uint64_t i = 0; i < job.count; i++)
            group.run([&job, i] { job_work(&job, &job.results[i]); });
        job_submitted(&job);
        group.wait();
    });
    return job_end(&job);
}
