/* SPDX-License-Identifier: MIT */
/*
 * pool/lending.h - grants a free member to a thread of the program without a turn of the member,
 * and takes it back likewise.
 *
 * A member that is noted as free in the queue of its pool sleeps, and has nothing left to do. So a
 * thread may lease it under the locks of the leases and of the queue alone: the member is *lent*
 * then. Its next turn, whatever begins it, finds that it is lent, and *adopts* the lease: from then
 * on all is as if it had granted that lease itself.
 *
 *                     take        turn
 *      not noted    ------- free ------> not noted      (pulling.h)
 *                    free -----> lent                   a taker; nobody waits in the queue
 *                    lent -----> free                   its return; nobody waits in the queue
 *                    lent -----> lent                   its return; a thread of the program waits
 *                                                       first, and gets it
 *                    lent -----> not noted, leased      its next turn adopts the lease
 *
 * Its turn is needed, and the way is that of other leases (actor/lease.h), for a member whose
 * behaviour has `taken`, `returned` or `flush`; for a holder that is watched; after a message under
 * the lease; for a return as failed, or while another waits first. The time-out needs
 * it, too: a lease is lent without a turn while a timer of the member goes off before it is over.
 *
 * The locks are those of lease and queue, in this order; each function says which are held.
 */
#ifndef POOL_LENDING_H
#define POOL_LENDING_H

#include "pool/pool.h"

/* Leases a free member of the pool to the program, which has asked that pool or its group. False:
 * there is none that may be lent. Any thread, in a read section. */
bool lending_begin(struct pool *pool, const struct pool *asked, struct executor *executor,
                   struct weir_lease *out);

/* The lease of the place, whose entry is locked, is over: as end_loan of struct owner_ops. */
bool lending_end(struct place *place, struct executor *executor, uint64_t now_ns,
                 struct loan *out_next);

/* Its turn is about to note the member as free; `lends`: it may be lent. The queue is locked. */
void lending_prepare_locked(struct actor *actor, bool lends);

/* Its turn has found the place lent. The queue is locked. */
void lending_adopt_locked(struct place *place);

/* The ledger of a member, at one instant. Any thread that keeps the place alive. */
void lending_read_ledger(struct place *place, struct ledger_reading *out);

#endif
