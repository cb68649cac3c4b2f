/* SPDX-License-Identifier: MIT */
/*
 * actor/credit.h - the room that a turn has made, and the wake-ups for it.
 *
 * Waiters are woken at the end of the turn at the latest: those of the actor itself, and those of
 * its pool and the pools above.
 */
#ifndef ACTOR_CREDIT_H
#define ACTOR_CREDIT_H

#include "actor/actor.h"

struct owner;

struct credit {
    uint32_t places; /* in the normal lane */
    uint32_t pulled; /* in the queue of the pool */
};

static inline bool credit_any(const struct credit *credit)
{
    return (credit->places | credit->pulled) != 0;
}

/* False: nothing waits for room of the actor, and it has no owner. seq_cst as wait_queue.h says:
 * after the read-modify-write that ended the turn. */
static inline bool credit_is_claimed(struct actor *actor, const struct owner *owner)
{
    return owner || atomic_load_explicit(&actor->room_queue, memory_order_seq_cst);
}

/*
 * Wakes the waiters, after a read-modify-write of the admission word (wait_queue.h). Another thread
 * may run the actor by now; `owner` is the owner that it is a member of, or NULL.
 */
void credit_return(struct credit *credit, struct actor *actor, struct owner *owner,
                   struct executor *executor);

/* As credit_return, for room in the queue of the owner that another thread than a turn has made, by
 * a lock that its senders acquire, too. */
void credit_pulled(struct owner *owner, struct executor *executor);

/*
 * After places were given back, before the next handler: ends the full marks that depend on the
 * actor (actor/fullness.h), as far as a read without a barrier sees them. The end of the turn ends
 * the others.
 */
void credit_unmark(const struct credit *credit, struct actor *actor);

/* As credit_return, in the middle of a turn: makes the read-modify-write itself. `executor` is the
 * calling thread's. */
void credit_return_now(struct credit *credit, struct actor *actor, struct executor *executor);

#endif
