/* SPDX-License-Identifier: MIT */
/*
 * reload/control_job.h - requests of the control socket to the supervisor, and their results.
 *
 * The I/O thread must not wait for a reload, so it queues a job. The supervisor takes the job,
 * writes the answer, and puts it among the done ones; the I/O thread is woken and collects it.
 * Jobs that wait when a reload begins are answered by that reload, since it reads the file after
 * they came. The answer is delivered at the commit, or, to a job that `waits`, when nothing drains.
 *
 * Life: control_jobs_init .. control_jobs_finish, which frees uncollected jobs. The comment of each
 * function says which thread may call it.
 */
#ifndef HOST_RELOAD_CONTROL_JOB_H
#define HOST_RELOAD_CONTROL_JOB_H

#include <limits.h>

#include "base/lock.h"
#include "base/report.h"
#include "config/plan.h"
#include "host/reload/law_answers.h"
#include "host/reload/pool_restart.h"

enum control_job_kind {
    CONTROL_JOB_RELOAD,
    CONTROL_JOB_PLAN,    /* the plan of a reload to `file` */
    CONTROL_JOB_RESTART, /* of the workers of the pool `file`, or of one: `pool#3` */
};

struct control_job {
    enum control_job_kind kind; /* const */
    bool wants_text;            /* const: for people, else JSON */
    bool colour;                /* const */
    bool waits;                 /* const: of a reload: also until the removed parts have ended */
    bool now;                   /* const: of a restart: kills the process of the worker */
    char file[PATH_MAX];        /* const: of a plan; or the path of a pool */
    void *context;              /* const: of the requester */
    struct control_job *next;   /* of the list that has it */

    int status; /* written by the supervisor until it is done: 0, or WEIR_E... */
    char *text; /* as `status`: the answer; NULL: memory was out */
    size_t size;
};

/* The result of a reload or a plan. Borrows all. */
struct outcome {
    int status;
    const struct plan *plan;        /* NULL: there was a failure before the plan */
    const struct report *report;    /* the mistakes; may be NULL */
    uint32_t generation;            /* in force now */
    uint32_t draining;              /* removed pools and sources that have not ended */
    const struct law_answers *laws; /* of a plan; may be NULL */
};

struct control_jobs {
    struct lock lock;
    struct control_job *waiting;    /* lock; oldest first */
    struct control_job *held;       /* the supervisor's: answered, and not done yet */
    struct control_job *done;       /* lock */
    void (*on_done)(void *context); /* const; may be NULL; on the supervisor's thread */
    void *context;                  /* const */
};

void control_jobs_init(struct control_jobs *jobs, void (*on_done)(void *context), void *context);
void control_jobs_finish(struct control_jobs *jobs);

/* Any thread. `file` may be NULL. Returns owned; NULL when memory is out or the file's name is too
 * long. */
struct control_job *control_job_create(enum control_job_kind kind, const char *file, void *context);
/* NULL is allowed. */
void control_job_destroy(struct control_job *job);

/* Takes a job. Any thread. */
void control_jobs_add(struct control_jobs *jobs, struct control_job *job);

/* The supervisor: takes all jobs of one kind, oldest first; NULL: none. */
struct control_job *control_jobs_take(struct control_jobs *jobs, enum control_job_kind kind);

/* The supervisor: writes the answer of each job of a list, and moves them to the done ones. */
void control_jobs_complete(struct control_jobs *jobs, struct control_job *list,
                           const struct outcome *outcome);

/* The supervisor: nothing drains any more. The jobs that have waited for that are done. */
void control_jobs_release(struct control_jobs *jobs);

/* The supervisor: writes the result of the restart of a pool, and moves the job to the done
 * ones. Its status is 0 when all workers have been restarted, WEIR_EINVALID when some have not. */
void control_jobs_complete_restart(struct control_jobs *jobs, struct control_job *job, int status,
                                   const struct pool_restart_result *result);

/* The requester: takes one that is done, owned; NULL: none. */
struct control_job *control_jobs_collect(struct control_jobs *jobs);

#endif
