/* SPDX-License-Identifier: MIT */
/*
 * apply/pool_changes.h - the pools' part of a plan that is carried out, as a transaction.
 *
 * It walks the plan's tasks. New pools are made apart, and changes of present pools are prepared.
 * Nothing is visible before the commit. The work of the commit grows with the changes, not with the
 * number of pools.
 *
 * Two workers of an exclusive behaviour cannot live side by side. So the changes of such pools are
 * prepared last, after their workers have stopped, and an abort is followed by a reopen of those
 * workers.
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
    struct pool_task *tasks; /* the plan's steps for pools that stay or are new */
    uint32_t task_count;
    /* by index of the new settings */
    struct pool **all;            /* all pools */
    struct pool **made;           /* new pools, made here */
    struct pool_change **changes; /* of pools that stay */
    bool *is_parent;              /* running pools that get new members */
    uint32_t exclusive_count;     /* tasks whose old workers stop before the new ones open */
    bool allocated;               /* all of these tables are allocated */
};

/* Makes and prepares everything; reports the reason of a failure. Finish is needed also on failure.
 * */
int pool_changes_prepare(struct pool_changes *changes, const struct transition *transition,
                         struct executor *executor);

/* For exclusive behaviours: orders the old workers to end; checks whether all of these have ended;
 * prepares the changes. Reports the reason of a failure. */
int pool_changes_stop(struct pool_changes *changes, struct executor *executor);
bool pool_changes_have_stopped(const struct pool_changes *changes);
int pool_changes_exchange(struct pool_changes *changes, struct executor *executor);

/* Publishes all changes; the caller holds assembly->lock. Cannot fail. */
void pool_changes_commit(struct pool_changes *changes, struct executor *executor);

/* Undoes the preparation; then `pool_changes_forget`, outside the read section. */
void pool_changes_abort(struct pool_changes *changes, struct executor *executor);
void pool_changes_forget(struct pool_changes *changes, const struct closing_time *time);

/* After an abort: opens new workers in place of the stopped ones. WEIR_ENOMEM: not all yet. */
int pool_changes_reopen(struct pool_changes *changes, struct executor *executor);

/* Frees the tables. */
void pool_changes_finish(struct pool_changes *changes);

#endif
