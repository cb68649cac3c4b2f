/* SPDX-License-Identifier: MIT */
/*
 * apply/opener.h - the threads on which the workers and sources of a reload open.
 *
 * They belong to no pool: an `open` that never returns keeps one of them, and no pool waits for it.
 * After a refusal, actors in `open` are left behind, and actors that have not begun end without an
 * `open`. The number of these threads is bounded: docs/decisions/088.
 *
 * Life: opener_create with the supervisor; then opener_begin, opener_run .., opener_rest around
 * each reload. On the thread of the supervisor. At the start there is no opener: workers open on
 * the threads where they run.
 */
#ifndef HOST_APPLY_OPENER_H
#define HOST_APPLY_OPENER_H

#include "base/report.h"
#include "host/run/assembly.h"

#define OPENER_DISPATCHER "opener" /* not a name that YAML can give: see supported.c */

/* WEIR_ENOMEM: its thread cannot start. */
int opener_create(struct assembly *assembly);

/* Called before anything is made. Returns the number of opens of former reloads that have not
 * returned. WEIR_EFULL, reported: too many. */
int opener_begin(const struct assembly *assembly, uint32_t *out_stuck, struct report *report);

/* Starts threads for `count` parts that are to open: as many as the dispatchers of `settings` have,
 * besides the `stuck` ones. */
void opener_run(const struct assembly *assembly, const struct settings *settings, uint32_t count,
                uint32_t stuck);

/* Keeps one free thread, which ends the actors that are no longer to open. */
void opener_rest(const struct assembly *assembly);

#endif
