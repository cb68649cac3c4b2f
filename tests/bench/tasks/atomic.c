/* SPDX-License-Identifier: MIT */
/* A C11 atomic index that threads take tasks from: the floor, without a queue. */
#include <pthread.h>
#include <stdatomic.h>

#include "job.h"

struct shared {
    struct job job;
    _Atomic uint64_t next;
};

static void *run(void *context)
{
    struct shared *shared = context;
    uint64_t i;

    while ((i = atomic_fetch_add(&shared->next, 1)) < shared->job.count)
        job_work(&shared->job, &shared->job.results[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct shared shared;
    pthread_t threads[64];

    job_begin(&shared.job, argc, argv);
    if (shared.job.threads > 64)
        return 64;
    job_start(&shared.job);
    for (uint32_t i = 0; i < shared.job.threads; i++)
        if (pthread_create(&threads[i], NULL, run, &shared) != 0)
            return 70;
    job_submitted(&shared.job);
    for (uint32_t i = 0; i < shared.job.threads; i++)
        (void)pthread_join(threads[i], NULL);
    return job_end(&shared.job);
}
