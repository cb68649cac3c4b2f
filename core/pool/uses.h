/* SPDX-License-Identifier: MIT */
/*
 * pool/uses.h - the pools that a pool uses without an output, and the parts that use it.
 *
 * Any thread.
 */
#ifndef POOL_USES_H
#define POOL_USES_H

#include "pool/pool.h"

/* Calls `visit` with the path of each pool that the options of the present workers or of the
 * manager name. The pool's lock is held. */
void uses_visit(struct pool *pool, void (*visit)(void *context, const char *path), void *context);

/*
 * True while a part may wait for an answer of the pool: one that has asked it, and neither closes
 * nor has ended, is there, and the pool has messages. `with_askers`: also while such a part has
 * messages, since these may make it ask again. In a read section.
 */
bool uses_is_awaited(struct pool *pool, bool with_askers);

#endif
