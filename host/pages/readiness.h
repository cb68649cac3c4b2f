/* SPDX-License-Identifier: MIT */
/*
 * pages/readiness.h - finds out whether the host is ready: every pool accepts messages, and each
 * dispatcher has a thread that is not stuck.
 *
 * A pool accepts no messages when it is paused, or when none of its workers is open. A pool whose
 * range of sizes begins at 0 may be empty. Any thread.
 */
#ifndef HOST_PAGES_READINESS_H
#define HOST_PAGES_READINESS_H

#include "host/pages/overview_figures.h"

#define READINESS_REASON_SIZE 128

/*
 * True when a pool has no open worker and none that will open: it has no workers, or all of them
 * are stopped. Writes the reason.
 */
bool readiness_is_empty(const struct overview_pool *pool, char *why, size_t size);

/* Writes a line, with `prefix`, for each pool that accepts no messages. True when there is none.
 * assembly->lock is held. */
bool readiness_print_locked(const struct overview *overview, const char *prefix, FILE *stream);

/* Writes a warning for each pool that serves while some of its workers have failed to open.
 * assembly->lock is held. */
void readiness_print_degraded_locked(const struct overview *overview, FILE *stream);

/* Writes the page /readyz; true: the host is ready. */
bool readiness_write(const struct overview *overview, FILE *stream);

#endif
