/* SPDX-License-Identifier: MIT */
/*
 * job.h - the job of ./dev bench tasks: a thread submits COUNT tasks, each with STEPS of work
 * (row.h), to a pool of THREADS, and waits until all are done. No pool has a limit.
 *
 *     PROGRAM THREADS COUNT STEPS
 */
#ifndef TESTS_BENCH_TASKS_JOB_H
#define TESTS_BENCH_TASKS_JOB_H

#include "../row.h"

struct job {
    uint32_t threads;
    uint64_t count;
    uint64_t steps;
    uint64_t *results; /* one for each task; not 0 when it has run */
    uint64_t start_ns;
    uint64_t submitted_ns;
    uint64_t start_cpu_ns;     /* of the thread that submits */
    uint64_t submitted_cpu_ns; /* likewise */
};

/* How long the calling thread has run. */
static inline uint64_t job_cpu_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void job_begin(struct job *job, int argc, char **argv)
{
    if (argc != 4)
        exit(64);
    job->threads = (uint32_t)strtoul(argv[1], NULL, 10);
    job->count = strtoull(argv[2], NULL, 10);
    job->steps = strtoull(argv[3], NULL, 10);
    job->results = (uint64_t *)calloc(job->count, sizeof *job->results);
    if (!job->results)
        exit(70);
    memset(job->results, 0, job->count * sizeof *job->results);
}

/* The work of a task, with its place in the results. */
static inline void job_work(const struct job *job, uint64_t *result)
{
    *result = row_work((uint64_t)(result - job->results), job->steps) | 1;
}

static inline void job_start(struct job *job)
{
    job->start_cpu_ns = job_cpu_ns();
    job->start_ns = row_now_ns();
}

static inline void job_submitted(struct job *job)
{
    job->submitted_ns = row_now_ns();
    job->submitted_cpu_ns = job_cpu_ns();
}

/* Prints what a task took: to submit it, in CPU time of the thread that submits, and in all. The
 * exit status. */
static inline int job_end(struct job *job)
{
    uint64_t end_ns = row_now_ns(), done = 0;

    for (uint64_t i = 0; i < job->count; i++)
        done += job->results[i] != 0;
    printf("submit=%.1f cpu=%.1f whole=%.1f ok=%d\n",
           (double)(job->submitted_ns - job->start_ns) / (double)job->count,
           (double)(job->submitted_cpu_ns - job->start_cpu_ns) / (double)job->count,
           (double)(end_ns - job->start_ns) / (double)job->count, done == job->count);
    free(job->results);
    return done != job->count;
}

#endif
