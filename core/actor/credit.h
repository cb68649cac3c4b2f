/*
 * actor/credit.h - the room that a turn has made, and the wake-ups for it.
 *
 * Waiters are woken at the end of the turn at the latest: those of the actor itself, and those of
 * its pool and the pools above. An actor that is quick, and queued again with messages that wait,
 * wakes them at the end of its next turn: a sender then finds twice the room, and is woken and
 * refused half as often.
 */
#ifndef ACTOR_CREDIT_H
#define ACTOR_CREDIT_H

#include "actor/actor.h"

struct owner;

struct credit {
    uint32_t places; /* in the normal lane */
    uint32_t pulled; /* in the queue of the pool */
    bool is_late;    /* the last turn has left its waiters to this one */
};

/* The credit at the beginning of a turn. */
static inline struct credit credit_begin(struct actor *actor)
{
    bool is_late = actor->owes_room;

    actor->owes_room = false;
    return (struct credit){ .is_late = is_late };
}

static inline bool credit_any(const struct credit *credit)
{
    return (credit->places | credit->pulled | credit->is_late) != 0;
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

/* True when an actor that is to be queued again may leave the waiters to its next turn. */
bool credit_may_wait(const struct credit *credit, const struct actor *actor);

/* As credit_return, but leaves the waiters to the next turn. Owner. */
void credit_wait(struct credit *credit, struct actor *actor, struct owner *owner);

/*
 * After places were given back, before the next handler: ends the full marks that depend on the
 * actor (actor/fullness.h), as far as a read without a barrier sees them. The end of the turn ends
 * the others.
 */
void credit_unmark(const struct credit *credit, struct actor *actor);

/* As credit_return, in the middle of a turn: makes the read-modify-write itself. */
void credit_return_now(struct credit *credit, struct actor *actor);

#endif
