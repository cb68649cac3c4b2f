/*
 * apply/source_changes.h - the sources' part of a reload, as a transaction.
 *
 * A source whose args or behaviour change is opened anew beside the old one, and produces when
 * that has ended and left its position. Where the behaviour says that two cannot live side by side
 * the old one is stopped first; should anything fail then, one like it is opened again.
 *
 * Life: prepare, [stop, exchange], commit or abort [reopen], then finish. Inside a read section
 * where an executor is taken. One thread at a time.
 */
#ifndef HOST_APPLY_SOURCE_CHANGES_H
#define HOST_APPLY_SOURCE_CHANGES_H

#include "host/apply/transition.h"
#include "host/run/closing.h"

struct source_changes {
    const struct transition *transition;
    struct pool *const *pools; /* by index of the new settings */
    struct source_task *tasks; /* those of the plan that are about sources */
    uint32_t task_count;
    /* by index of the new settings */
    struct source **all;    /* every one of them */
    struct source **made;   /* those made here */
    struct source **closed; /* the old ones that end: removed, or replaced */
    uint32_t closed_count;
    uint32_t exclusive_count; /* tasks whose old source stops before the new one opens */
};

/* Makes everything new; `pools` by index of the new settings. Reports what cannot be. */
int source_changes_prepare(struct source_changes *changes, const struct transition *transition,
                           struct pool *const *pools, struct executor *executor);

/* The exclusive ones: tells the old to end; whether all who were told so have ended; makes the new
 * in their places. What cannot be is reported. */
void source_changes_stop(struct source_changes *changes, struct executor *executor);
bool source_changes_have_stopped(const struct source_changes *changes);
int source_changes_exchange(struct source_changes *changes, struct executor *executor);

/* assembly->lock is held. Cannot fail. */
void source_changes_commit(struct source_changes *changes, struct executor *executor);

/* Waits for those that the commit closed, and frees them. Outside the read section. */
void source_changes_drain(struct source_changes *changes);

/* Undoes what was prepared. Then, outside the read section, what was made here is waited for and
 * freed. */
void source_changes_abort(struct source_changes *changes, struct executor *executor);
void source_changes_forget(struct source_changes *changes, const struct closing_time *time);

/* After an abort: whether what took the places of those that were stopped has ended; opens others
 * like those. WEIR_ENOMEM: not all yet. */
bool source_changes_are_vacant(const struct source_changes *changes);
int source_changes_reopen(struct source_changes *changes, struct executor *executor);

/* Frees the tables. */
void source_changes_finish(struct source_changes *changes);

#endif
