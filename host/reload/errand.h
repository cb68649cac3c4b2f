/*
 * reload/errand.h - requests of the control socket to the supervisor, and their results.
 *
 * The I/O thread must not wait for a reload, so it queues an errand. The supervisor takes it,
 * writes the answer, and puts it among the done ones; the I/O thread is woken and collects it.
 * Errands that wait when a reload begins are answered by that reload, since it reads the file after
 * they came.
 *
 * Life: errands_init .. errands_finish, which frees uncollected errands. The comment of each
 * function says which thread may call it.
 */
#ifndef HOST_RELOAD_ERRAND_H
#define HOST_RELOAD_ERRAND_H

#include <limits.h>
#include <pthread.h>

#include "base/report.h"
#include "config/plan.h"
#include "host/reload/pool_restart.h"

enum errand_kind {
    ERRAND_RELOAD,
    ERRAND_PLAN,    /* the plan of a reload to `file` */
    ERRAND_RESTART, /* of the workers of the pool `file` */
};

struct errand {
    enum errand_kind kind; /* const */
    bool wants_text;       /* const: for people, else JSON */
    bool colour;           /* const */
    char file[PATH_MAX];   /* const: of a plan; or the path of a pool */
    void *context;         /* const: of the requester */
    struct errand *next;   /* of the list that has it */

    int status; /* written by the supervisor until it is done: 0, or WEIR_E... */
    char *text; /* as `status`: the answer; NULL: memory was out */
    size_t size;
};

/* The result of a reload or a plan. Borrows all. */
struct outcome {
    int status;
    const struct plan *plan;     /* NULL: there was a failure before the plan */
    const struct report *report; /* the mistakes; may be NULL */
    uint32_t generation;         /* in force now */
};

struct errands {
    pthread_mutex_t lock;
    struct errand *asked;           /* lock; oldest first */
    struct errand *done;            /* lock */
    void (*on_done)(void *context); /* const; may be NULL; on the supervisor's thread */
    void *context;                  /* const */
};

void errands_init(struct errands *errands, void (*on_done)(void *context), void *context);
void errands_finish(struct errands *errands);

/* Any thread. `file` may be NULL. Returns owned; NULL when memory is out or the file's name is too
 * long. */
struct errand *errand_create(enum errand_kind kind, const char *file, void *context);
/* NULL is allowed. */
void errand_destroy(struct errand *errand);

/* Takes an errand. Any thread. */
void errands_ask(struct errands *errands, struct errand *errand);

/* The supervisor: takes all errands of one kind, oldest first; NULL: none. */
struct errand *errands_take(struct errands *errands, enum errand_kind kind);

/* The supervisor: writes the answer of each errand of a list, and moves them to the done ones. */
void errands_complete(struct errands *errands, struct errand *list, const struct outcome *outcome);

/* The supervisor: writes the result of the restart of a pool, and moves the errand to the done
 * ones. Its status is 0 when all workers have been restarted, WEIR_EINVALID when some have not. */
void errands_complete_restart(struct errands *errands, struct errand *errand, int status,
                              const struct pool_restart_result *result);

/* The requester: takes one that is done, owned; NULL: none. */
struct errand *errands_collect(struct errands *errands);

#endif
