/* SPDX-License-Identifier: MIT */
/*
 * actor/lease.h - the lease of a pool's member, seen by the member.
 *
 *      free ----> leased ----> over ----> free       (returned, or the holder ended normally)
 *                   |            \-> replaced        (`returned` fails)
 *                   \-> replaced                     (returned as failed, expired, holder failed)
 *
 * A TAKE is a request that the member takes out of the shared queue. The member answers it with the
 * lease, and has it in hand until the lease has ended: so the ledger shows a leased member as busy.
 * A member that is leased takes nothing out of the shared queue, and handles only messages of its
 * lease and its own business. Events wait until the lease is over. A plain message in that queue is
 * a lease for the time of that message: a member takes it when nothing else is unsettled. A thread
 * outside may take a free member without a TAKE (pool/lending.h): the next turn of the member
 * adopts such a lease, unless it is over by then. Owner's turn only.
 */
#ifndef ACTOR_LEASE_H
#define ACTOR_LEASE_H

#include "actor/leases.h"
#include "actor/place.h"
#include "face/leases.h"

/* The member's lease; NULL: it is free. */
static inline struct lease *lease_of(const struct actor *actor)
{
    /* Relaxed: written in turns of this actor only. */
    struct lease *lease = actor->place
                              ? atomic_load_explicit(&actor->place->lease, memory_order_relaxed)
                              : NULL;

    return lease && (lease->take || lease->is_adopted) ? lease : NULL;
}

/* The payload of a TAKE; empty when the program itself takes. */
struct lease_taker {
    struct lease_holder holder;
    char path[]; /* for people; "" when it is not known */
};

/* Holds the lease of a TAKE: a worker, or 0, the program. */
static inline weir_pid lease_holder_of(const struct message *take)
{
    return take->public.size ? ((const struct lease_taker *)take->public.data)->holder.pid
                             : take->public.from;
}

/* False: the holder of a TAKE is the program, without a worker that may end before it. */
static inline bool lease_is_watched(const struct message *take)
{
    return take->public.size > 0 || take->public.from != 0;
}

/* A TAKE for this holder, owned by the caller; NULL: memory is out. */
struct message *lease_make_take(struct executor *executor, struct lease_holder holder,
                                const char *path);

/* True: the lease has ended, and the member is to be released. */
static inline bool lease_is_over(const struct actor *actor)
{
    const struct lease *lease = lease_of(actor);

    return lease && lease->is_over;
}

/* False: it takes nothing out of the shared queue now, since it is leased, or since a message for
 * which it counts as leased is unsettled. */
bool lease_lets_pull(const struct actor *actor);

/* True for a message of a lease that is over, and, while it is leased, for one that belongs to no
 * lease and is not its own business (own.h): the member does not handle it now. */
bool lease_refuses(const struct actor *actor, const struct message *message);

/* Of such a message. True: it is an event for the member, which waits until the lease is over.
 * Takes it then. False: no event, or too many wait. */
bool lease_defers(struct actor *actor, struct message *message);

/* Passes on a message of the pool that the member had before it was leased: from its stash, or from
 * a sender that read the pool's route before a reload added leases. Takes it. */
void lease_pass_on(struct actor *actor, struct message *message);

/* A turn of the member learns that it was lent: from now on it is leased as by a TAKE. The lock of
 * the pool's queue is held. */
void lease_adopt_locked(struct actor *actor);

/* The member is free. Returns the TAKE, owned; NULL: it was lent. */
struct message *lease_release(struct actor *actor, struct lease *lease);

/* As lease_release, and settles what it had in hand. */
void lease_settle(struct actor *actor, struct lease *lease);

/* Adds the leases of which no turn of the member knew. Any thread that keeps the place alive; exact
 * under the lock of the pool's queue. */
void lease_add_ledger(const struct place *place, struct ledger_reading *reading);

/* Ends a TAKE without a lease. Takes it; its taker gets `status`. */
void lease_refuse_take(struct actor *actor, struct message *take, int status);

/* Logs that a lease, which is over, was taken back. */
void lease_log_revoked(const struct actor *actor, enum lease_end why);

/* Logs that the worker was not free within the time-out after its lease was over. */
void lease_log_lost(struct actor *actor);

/* Logs that `returned` has ended the worker. */
void lease_log_retired(const struct actor *actor);

/* The member has to leave, and its time is over. True: its lease is revoked, and its incarnation is
 * to end now, since the pool may still recall the member. */
bool lease_remove(struct actor *actor);

/* The incarnation ends, and with it the lease. `failed`: the worker is counted as failed. */
void lease_drop(struct actor *actor, bool failed);

#endif
