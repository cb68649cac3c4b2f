/* SPDX-License-Identifier: MIT */
/*
 * apply/source_changes.h - the sources' part of a reload, as a transaction.
 *
 * A source whose args or behaviour change is replaced: the new source opens beside the old one, and
 * produces when the old one has ended and left its position. The old source of an exclusive
 * behaviour is stopped first; after a failure, a source with the old settings is opened in its
 * place.
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
    struct source_task *tasks; /* the plan's steps for sources */
    uint32_t task_count;
    /* by index of the new settings */
    struct source **all;    /* all sources */
    struct source **made;   /* new sources, made here */
    struct source **closed; /* the old ones that end: removed, or replaced */
    uint32_t closed_count;
    uint32_t exclusive_count; /* tasks whose old source stops before the new one opens */
};

/* Makes all new sources; `pools` by index of the new settings. Reports the reason of a failure. */
int source_changes_prepare(struct source_changes *changes, const struct transition *transition,
                           struct pool *const *pools, struct executor *executor);

/* For exclusive behaviours: orders the old sources to end; checks whether all of these have ended;
 * makes the new ones in their places. Reports the reason of a failure. */
void source_changes_stop(struct source_changes *changes, struct executor *executor);
bool source_changes_have_stopped(const struct source_changes *changes);
int source_changes_exchange(struct source_changes *changes, struct executor *executor);

/* assembly->lock is held. Cannot fail. */
void source_changes_commit(struct source_changes *changes, struct executor *executor);

/* Waits for the sources that the commit closed, and frees them. Outside the read section. */
void source_changes_drain(struct source_changes *changes);

/* Undoes the preparation. After that, outside the read section: waits for the sources that were
 * made here, and frees them. */
void source_changes_abort(struct source_changes *changes, struct executor *executor);
void source_changes_forget(struct source_changes *changes, const struct closing_time *time);

/* After an abort: source_changes_are_vacant says whether the successors of the stopped sources have
 * ended; source_changes_reopen opens sources in their places again. WEIR_ENOMEM: not all yet. */
bool source_changes_are_vacant(const struct source_changes *changes);
int source_changes_reopen(struct source_changes *changes, struct executor *executor);

/* Frees the tables. */
void source_changes_finish(struct source_changes *changes);

#endif
