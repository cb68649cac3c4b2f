/*
 * weir/watch.h - waits for a descriptor without a thread, and reports when it can be read or
 * written.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too.
 *
 * A watch fires once: `ready` is called in a turn of the actor, and the watch is gone. To wait
 * again, call weir_watch again, usually at the end of `ready`. So a descriptor cannot flood a slow
 * actor. A descriptor that is readable already is reported at once.
 *
 * The plugin owns the descriptor. The host does not read it, close it, or change its mode: make it
 * non-blocking, because it may not be readable any more when `ready` runs. Before you close a
 * descriptor, call weir_unwatch; in the behaviour's `close` all watches end by themselves. If
 * weir_unwatch is forgotten, `ready` gets WEIR_EINVALID some time later, unless another process or
 * a duplicate keeps the open file alive.
 */
#ifndef WEIR_WATCH_H
#define WEIR_WATCH_H

#include "host.h"

/*
 * Calls `ready` once, in a turn of this actor, when the descriptor is readable, writable, or either
 * as `events` say: bits of enum weir_readiness. An end of file, an error or a lost peer is reported
 * as the requested events: the next read or write shows it. A descriptor has one watch at a time in
 * the whole host; two actors that share a connection watch duplicates of it. The watch ends with
 * this incarnation. After `ready`, `produce` of a source that returned WEIR_WAIT is called again.
 * `out_watch` may be NULL. WEIR_EUNSUPPORTED: a file that is always ready, such as one on a disk,
 * or a program that embeds the runtime without a poller; WEIR_EINVALID: no descriptor, no events;
 * WEIR_EEXISTS, WEIR_ENOMEM.
 */
static inline int weir_watch(struct weir_self *self, int descriptor, uint32_t events,
                             weir_ready *ready, void *context, uint64_t *out_watch)
{
    return self->host->watch(self, descriptor, events, ready, context, out_watch);
}

/*
 * Removes a watch: `ready` is not called any more, and the descriptor may be closed. WEIR_EUNKNOWN:
 * `ready` was called, or there is no such watch.
 */
static inline int weir_unwatch(struct weir_self *self, uint64_t watch)
{
    return self->host->unwatch(self, watch);
}

#endif
