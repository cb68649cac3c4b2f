/* SPDX-License-Identifier: MIT */
/*
 * run/draining.h - the end of pools and sources that reloads have removed, beside the work and
 * beside further reloads.
 *
 * They are among the gone of the assembly. Each closes after those that feed or use it, whichever
 * reload has removed these; the first parts close in draining_go_on. On the thread that changes the
 * assembly, outside a read section.
 */
#ifndef HOST_RUN_DRAINING_H
#define HOST_RUN_DRAINING_H

#include "host/run/closing.h"

/* More may not be gone and not ended: a reload is refused until some have ended. */
#define DRAINING_MAX SETTINGS_POOLS_MAX

/* After a commit that has put pools among the gone: one of these. `exclusive`: its behaviour is.
 * closing_reserve has made room. */
void draining_add_pool(struct assembly *assembly, struct pool *pool, bool exclusive);

/* Likewise a source, which is closing already; puts it among the gone. */
void draining_add_source(struct assembly *assembly, struct source *source, bool exclusive);

/* Once after a commit that has removed pools: former workers may feed and use these. So they close
 * after the former workers, or when the longest time-out of these is over. */
void draining_await_formers(struct assembly *assembly);

/* Takes the next steps, and frees what has ended. The number of parts that still drain: while there
 * are some, call it again. */
uint32_t draining_go_on(struct assembly *assembly);

/* True when there are too many to remove further parts. */
bool draining_is_full(const struct assembly *assembly);

/* Waits until no part of an exclusive behaviour drains, or the host stops. WEIR_ETIMEOUT. */
int draining_await_exclusive(struct assembly *assembly, uint64_t timeout_ms);

#endif
