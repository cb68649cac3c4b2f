/* SPDX-License-Identifier: MIT */
/*
 * weir/watch.h - reports when a descriptor can be read or written; no thread waits for it.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply.
 *
 * A watch fires once: the host calls `ready` in a turn of the actor, and the watch has ended. To
 * wait again, call weir_watch again, usually at the end of `ready`. So a descriptor cannot flood a
 * slow actor. A descriptor that is ready already is reported at once.
 *
 * The plugin owns the descriptor. The host does not read it, close it, or change its mode. Make it
 * non-blocking, because it may no longer be readable when `ready` runs. Before you close a
 * descriptor, call weir_unwatch. The host ends all watches of the incarnation in `close`. If a
 * descriptor is closed without weir_unwatch, `ready` gets WEIR_EINVALID some time later, unless
 * another process or a duplicate keeps the open file alive.
 */
#ifndef WEIR_WATCH_H
#define WEIR_WATCH_H

#include "host.h"

/*
 * Calls `ready` once, in a turn of this actor, when the descriptor is ready for one of `events`:
 * bits of enum weir_readiness. An end of file, an error or a lost peer is reported as the requested
 * events; the next read or write shows it. A descriptor has one watch at a time in the whole host.
 * Two actors that share a connection watch duplicates of its descriptor. The watch ends with this
 * incarnation. If `produce` of a source has returned WEIR_WAIT, the host calls it again after
 * `ready`. `out_watch` may be NULL.
 *
 * WEIR_EUNSUPPORTED: the file is always ready, such as a file on a disk, or the embedding program
 * has no poller. WEIR_EINVALID: not a descriptor, no events, or `ready` is NULL. WEIR_EEXISTS: the
 * descriptor has a watch. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_watch(struct weir_self *self, int descriptor, uint32_t events,
                           weir_ready *ready, void *context, uint64_t *out_watch)
{
    return self->host->watch(self, descriptor, events, ready, context, out_watch);
}

/*
 * Removes a watch: `ready` is no longer called, and the descriptor may be closed. WEIR_EUNKNOWN:
 * `ready` was called, or there is no such watch.
 */
WEIR_INLINE int weir_unwatch(struct weir_self *self, uint64_t watch)
{
    return self->host->unwatch(self, watch);
}

#endif
