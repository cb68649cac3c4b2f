/*
 * apply/pool_changes.h - the pools' part of a plan that is carried out, as a transaction.
 *
 * It walks the plan's tasks. New pools are made apart, changes of present ones prepared; nobody
 * sees any of it before the commit, whose work grows with what changes, not with what there is.
 *
 * Two workers of an exclusive behaviour cannot live side by side. So the changes of such pools are
 * prepared last, after their workers have stopped; an abort is followed by opening them again.
 *
 * Life: prepare, [stop, exchange], commit or abort [reopen], then finish. Inside a read section
 * where an executor is taken. One thread at a time.
 */
#ifndef HOST_APPLY_POOL_CHANGES_H
#define HOST_APPLY_POOL_CHANGES_H

#include "host/apply/transition.h"
#include "host/run/closing.h"

struct pool_changes {
    const struct transition *transition;
    struct pool_task *tasks; /* those of the plan that are about pools that stay or come */
    uint32_t task_count;
    /* by index of the new settings */
    struct pool **all;            /* every one of them */
    struct pool **made;           /* those made here */
    struct pool_change **changes; /* of those that were there */
    bool *is_parent;              /* those that run and get new members */
    struct pool **gone_pools;     /* room for the removed ones, and for those that have not ended */
    uint32_t exclusive_count;     /* tasks whose old workers stop before the new ones open */
    bool allocated;               /* all of these tables are there */
};

/* Makes and prepares everything; reports what cannot be. Finish is needed also on failure. */
int pool_changes_prepare(struct pool_changes *changes, const struct transition *transition,
                         struct executor *executor);

/* The exclusive ones: tells the old workers to end; whether all who were told so have ended;
 * prepares the changes. What cannot be is reported. */
int pool_changes_stop(struct pool_changes *changes, struct executor *executor);
bool pool_changes_have_stopped(const struct pool_changes *changes);
int pool_changes_exchange(struct pool_changes *changes, struct executor *executor);

/* Publishes all of it; assembly->lock is held. Cannot fail. */
void pool_changes_commit(struct pool_changes *changes, struct executor *executor);

/* Undoes what was prepared; then `pool_changes_forget`, outside the read section. */
void pool_changes_abort(struct pool_changes *changes, struct executor *executor);
void pool_changes_forget(struct pool_changes *changes, const struct closing_time *time);

/* After an abort: opens workers like those that were stopped. WEIR_ENOMEM: not all yet. */
int pool_changes_reopen(struct pool_changes *changes, struct executor *executor);

/* Frees the tables. */
void pool_changes_finish(struct pool_changes *changes);

#endif
