/*
 * weir/watch.h - waiting for a descriptor without a thread: told when it can be read or written.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too.
 *
 * A watch is for once: `ready` is called in a turn of the actor, after that the watch is gone, and
 * whoever wants to be told again watches again, usually at the end of `ready`. So a descriptor
 * cannot flood an actor that is slow. What is readable already is told at once.
 *
 * The descriptor stays the plugin's. The host neither reads it, nor closes it, nor changes its
 * mode: make it non-blocking, for it may not be readable any more when `ready` runs. Whoever closes
 * it takes the watch back first, but in the behaviour's `close`, where all watches end. If that is
 * forgotten, `ready` is told WEIR_EINVALID some time later, unless another process or a duplicate
 * keeps the open file alive.
 */
#ifndef WEIR_WATCH_H
#define WEIR_WATCH_H

#include "host.h"

/*
 * Calls `ready` once, in a turn of this actor, when the descriptor is readable, writable, or
 * either as `events` say: bits of enum weir_readiness. An end of file, an error or a peer that has
 * gone counts as what was asked for: read or write, and see. A descriptor has one watch at a time
 * in the whole host; two actors that share a connection watch duplicates of it. Ends with this
 * incarnation. A source that said WEIR_WAIT is asked again after `ready`. `out_watch` may be NULL.
 * WEIR_EUNSUPPORTED: a file that is always ready, such as one on a disk, or a program that embeds
 * the runtime without a poller; WEIR_EINVALID: no descriptor, no events; WEIR_EEXISTS, WEIR_ENOMEM.
 */
static inline int weir_watch(struct weir_self *self, int descriptor, uint32_t events,
                             weir_ready *ready, void *context, uint64_t *out_watch)
{
    return self->host->watch(self, descriptor, events, ready, context, out_watch);
}

/*
 * Takes that back: `ready` is not called any more, and the descriptor may be closed. WEIR_EUNKNOWN:
 * it was called, or there was no such watch.
 */
static inline int weir_unwatch(struct weir_self *self, uint64_t watch)
{
    return self->host->unwatch(self, watch);
}

#endif
