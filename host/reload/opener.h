/*
 * reload/opener.h - the threads on which the workers and sources of a reload open.
 *
 * They belong to no pool: an `open` that never returns keeps one of them, and no pool waits for it.
 * After a refusal, what has begun to open is left behind, and what has not begun is ended without
 * an `open`. Their number is bounded: docs/decisions/088.
 *
 * Life: opener_create with the supervisor; then opener_begin, opener_run .., opener_rest around
 * each reload. On the thread of the supervisor.
 */
#ifndef HOST_RELOAD_OPENER_H
#define HOST_RELOAD_OPENER_H

#include "base/report.h"
#include "host/run/assembly.h"

#define OPENER_DISPATCHER "opener" /* not a name that YAML can give: see supported.c */

/* WEIR_ENOMEM: its thread cannot start. */
int opener_create(struct assembly *assembly);

/* Before anything is made. WEIR_EFULL, reported: too many opens have not returned. */
int opener_begin(const struct assembly *assembly, struct report *report);

/* Has enough threads for what waits to be opened: as many as the dispatchers of `settings` have. */
void opener_run(const struct assembly *assembly, const struct settings *settings);

/* Keeps one thread that is free, which ends what is not to be opened any more. */
void opener_rest(const struct assembly *assembly);

#endif
