/*
 * actor/freed.h - the places that a turn freed, and who is told of them.
 *
 * Those who wait hear of them no later than at the end of the turn: before the actor itself, and
 * before its pool and the pools above.
 */
#ifndef ACTOR_FREED_H
#define ACTOR_FREED_H

#include "actor/actor.h"

struct owner;

struct freed {
    uint32_t places; /* in the normal lane */
    uint32_t pulled; /* in the queue of the pool */
};

static inline bool freed_any(const struct freed *freed)
{
    return (freed->places | freed->pulled) != 0;
}

/*
 * Tells of them, after a read-modify-write of the admission word (waiters.h). The actor may be
 * somebody else's by now; `owner` is what it is a member of, or NULL.
 */
void freed_tell(struct freed *freed, struct actor *actor, struct owner *owner,
                struct executor *executor);

/*
 * Before a handler that may take long: ends the full marks that it depends on (actor/fullness.h),
 * as far as a look without a barrier finds any. The end of the turn finds the others.
 */
void freed_unmark(const struct freed *freed, struct actor *actor);

/* As freed_tell, in the middle of a turn: the read-modify-write is made here. */
void freed_tell_now(struct freed *freed, struct actor *actor);

#endif
