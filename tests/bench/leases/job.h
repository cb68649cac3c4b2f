/* SPDX-License-Identifier: MIT */
/*
 * job.h - the jobs of ./dev bench leases: USERS threads or workers take one of MEMBERS, use it and
 * return it, EACH times. With a CONNINFO a member is a connection to PostgreSQL, and its use is a
 * transaction of four statements. Prints what a round takes: of the whole, and of single ones.
 *
 *     PROGRAM HOW USERS MEMBERS EACH [CONNINFO]
 */
#ifndef TESTS_BENCH_LEASES_JOB_H
#define TESTS_BENCH_LEASES_JOB_H

#include "../row.h"

#define JOB_USERS_MAX 256u
#define JOB_STATEMENTS 4u
#define JOB_TEXT_BYTES 96u

struct job {
    const char *how;
    uint32_t users;
    uint32_t members;
    uint64_t each;
    const char *conninfo; /* "" = none */
    uint64_t *rounds;     /* what each took, in ns; a user after the other */
    uint64_t start_ns;
};

static inline void job_begin(struct job *job, int argc, char **argv)
{
    if (argc < 5)
        exit(64);
    job->how = argv[1];
    job->users = (uint32_t)strtoul(argv[2], NULL, 10);
    job->members = (uint32_t)strtoul(argv[3], NULL, 10);
    job->each = strtoull(argv[4], NULL, 10);
    job->conninfo = argc > 5 ? argv[5] : "";
    if (job->users == 0 || job->users > JOB_USERS_MAX || job->members == 0 || job->each == 0)
        exit(64);
    job->rounds = (uint64_t *)calloc(job->users * job->each, sizeof *job->rounds);
    if (!job->rounds)
        exit(70);
    memset(job->rounds, 0, job->users * job->each * sizeof *job->rounds);
}

static inline void job_start(struct job *job)
{
    job->start_ns = row_now_ns();
}

static inline void job_note(struct job *job, uint32_t user, uint64_t round, uint64_t began_ns)
{
    job->rounds[user * job->each + round] = row_now_ns() - began_ns;
}

static inline int job_compare(const void *a, const void *b)
{
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

    return (*x > *y) - (*x < *y);
}

/* The exit status. */
static inline int job_end(struct job *job)
{
    uint64_t whole_ns = row_now_ns() - job->start_ns, count = job->users * job->each;

    qsort(job->rounds, count, sizeof *job->rounds, job_compare);
    printf("each=%.1f p50=%ju p99=%ju ok=%d\n", (double)whole_ns / (double)count,
           (uintmax_t)job->rounds[count / 2], (uintmax_t)job->rounds[count * 99 / 100],
           job->rounds[0] > 0);
    free(job->rounds);
    return 0;
}

/* Each user has two accounts of its own, so that users wait for connections, never for rows. */
static inline void job_statement(char out[JOB_TEXT_BYTES], uint32_t number, uint32_t user)
{
    switch (number) {
    case 0:
        snprintf(out, JOB_TEXT_BYTES, "BEGIN");
        break;
    case 1:
    case 2:
        snprintf(out, JOB_TEXT_BYTES,
                 "UPDATE accounts SET balance = balance %c 1, uses = uses + 1 WHERE id = %u",
                 number == 1 ? '-' : '+', 2 * user + number - 1);
        break;
    default:
        snprintf(out, JOB_TEXT_BYTES, "COMMIT");
    }
}

#endif
