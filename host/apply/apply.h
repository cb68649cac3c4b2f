/* SPDX-License-Identifier: MIT */
/*
 * apply/apply.h - carries out a plan, from the running settings to new ones, as a transaction.
 *
 * Prepare makes and opens everything new. After a successful prepare, commit publishes it, which
 * cannot fail, and drain lets the removed parts end by themselves. After a failed
 * prepare, the caller reports the reason and abandon removes the new parts.
 *
 * Life: apply_prepare, then apply_commit and apply_drain, or apply_abandon. On the thread
 * of the supervisor, not in a read section.
 */
#ifndef HOST_APPLY_APPLY_H
#define HOST_APPLY_APPLY_H

#include "host/apply/dispatcher_change.h"
#include "host/apply/pool_changes.h"
#include "host/apply/source_changes.h"

/* How long each part took. */
struct apply_times {
    uint64_t check_ns; /* reading, checking, planning: filled in by the caller */
    uint64_t prepare_ns;
    uint64_t commit_ns;
};

/* One reload under way. */
struct apply {
    struct transition transition;
    struct dispatcher_change dispatchers;
    struct pool_changes pools;
    struct source_changes sources;
    uint32_t stuck_opens;      /* of former reloads, when this one began */
    struct executor *executor; /* held from the beginning, so that the end needs no memory */
    struct apply_times times;
};

/*
 * Prepares `plan`, which was made from the settings in force to `settings`. Takes the settings,
 * also on failure. Reports the reason of a failure: WEIR_EINVALID, WEIR_ETIMEOUT, WEIR_ENOMEM; the
 * caller then calls apply_abandon.
 */
int apply_prepare(struct apply *apply, struct assembly *assembly, struct settings *settings,
                  const struct plan *plan, struct report *report);

/* After a prepare that succeeded: cannot fail. */
void apply_commit(struct apply *apply);

/* After the commit: lets the removed parts end, without a wait: see draining.h. Ends `apply`. */
void apply_drain(struct apply *apply);

/* After a prepare that failed: restores the former state. Parts that do not end at once are named
 * in the log and left behind. */
void apply_abandon(struct apply *apply);

/*
 * The start: carries out the plan from nothing to `settings`, and waits until all workers are open.
 * Takes the settings, also on failure; then everything is undone, except parts that do not end at
 * once. Sources do not produce yet: assembly_go. Reports what failed: WEIR_ENOMEM, WEIR_EINVALID
 * (an open failed), WEIR_ETIMEOUT. Called once, in place of the functions above.
 */
int apply_from_nothing(struct assembly *assembly, struct settings *settings, struct report *report);

#endif
