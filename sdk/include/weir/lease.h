/* SPDX-License-Identifier: MIT */
/*
 * weir/lease.h - exclusive use of a worker: take it, use it, return it.
 *
 * Part of <weir/plugin.h>: include that. A pool with `lease` gives its workers out one by one. A
 * taker gets a lease of a free worker, or waits in the pool's queue, first in, first out. While the
 * worker is leased it handles normal messages of that lease, and what it, its timers, threads and
 * children send to it. Events reach it when the lease is over. The lease is over when its holder
 * returns it or ends, when its time-out passes, or when the worker fails. A message that was sent
 * under a lease that is over is not handled: it is dead `rejected`, and its requester gets
 * WEIR_ENOTALLOWED; WEIR_ECRASHED if it had begun. A message that the worker forwards leaves the
 * lease.
 */
#ifndef WEIR_LEASE_H
#define WEIR_LEASE_H

#include "host.h"

/*
 * Requests a worker of `pool`. Returns 0, and `then` gets the answer: weir_lease_of(reply), or the
 * reason why there is none: WEIR_ETIMEOUT, WEIR_ECLOSED, ... `timeout_ms` bounds the wait; 0 = it
 * does not wait for a worker in use. WEIR_EFULL, at once: all workers are in use, and the queue has
 * no room. A worker that starts, or that comes back after a return, is not in use; with the
 * time-out 0 one that starts counts as in use. WEIR_EUNSUPPORTED: the pool gives no leases; that is
 * also the answer when a reload takes `lease` away while the taker waits. With WEIR_ETIMEOUT the
 * detail of the reply is the reason why the last worker did not open, if no other one has since.
 * Otherwise as weir_request. weir_cancel gives the wait up. Since 1.1.
 */
WEIR_INLINE int weir_take(struct weir_self *self, weir_pid pool, uint64_t timeout_ms,
                          weir_then *then, void *context, uint64_t *out_reference)
{
    return self->host->take(self, pool, timeout_ms, then, context, out_reference);
}

/* The lease in the answer to weir_take; NULL: there is none, see reply->status. Borrowed until the
 * continuation returns. */
WEIR_INLINE const struct weir_lease *weir_lease_of(const struct weir_reply *reply)
{
    return reply->message ? (const struct weir_lease *)reply->message->data : NULL;
}

/* As weir_send to the leased worker. WEIR_ENOTALLOWED: the lease is over. WEIR_EINVALID: the
 * message has an origin. Since 1.1. */
WEIR_INLINE int weir_lease_send(struct weir_self *self, const struct weir_lease *lease,
                                struct weir_message *message)
{
    return self->host->lease_send(self, lease, message);
}

/* As weir_request to the leased worker; statuses as weir_lease_send. Since 1.1. */
WEIR_INLINE int weir_lease_request(struct weir_self *self, const struct weir_lease *lease,
                                   struct weir_message *message, uint64_t timeout_ms,
                                   weir_then *then, void *context, uint64_t *out_reference)
{
    return self->host->lease_request(self, lease, message, timeout_ms, then, context,
                                     out_reference);
}

/*
 * Returns a leased worker. WEIR_DONE: it serves the next taker, after it has handled the messages
 * of the lease, for which it has the time-out of the lease once more; past that it is closed and
 * opened again. WEIR_FAIL: it is closed and opened again first. WEIR_EUNKNOWN: the
 * lease is over already. WEIR_ENOTALLOWED: another actor holds it. WEIR_EINVALID: another `how`.
 * Does not need memory. Since 1.1.
 */
WEIR_INLINE int weir_return(struct weir_self *self, const struct weir_lease *lease, int how)
{
    return self->host->lease_return(self, lease, how);
}

/* The time-out of the lease begins again, now. Statuses as weir_return. Since 1.1. */
WEIR_INLINE int weir_lease_renew(struct weir_self *self, const struct weir_lease *lease)
{
    return self->host->lease_renew(self, lease);
}

#endif
