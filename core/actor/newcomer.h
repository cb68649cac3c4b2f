/* SPDX-License-Identifier: MIT */
/*
 * actor/newcomer.h - the side of a new member in a handover (handover.h): it waits, and looks at
 * the givers once in a while.
 */
#ifndef ACTOR_NEWCOMER_H
#define ACTOR_NEWCOMER_H

#include "actor/handover.h"
#include "actor/place.h"

/*
 * The actor of the place begins after the handover, which gets another reference. Under the lock of
 * the pool. An actor that is open already needs SIGNAL_WORK afterwards, before its first message.
 */
void newcomer_hold(struct place *place, struct handover *handover);

/* True while the actor may take no message because of a handover. Owner. */
static inline bool newcomer_waits(const struct actor *actor)
{
    return actor->place &&
           atomic_load_explicit(&actor->place->handover, memory_order_acquire) != NULL;
}

/* The actor has opened, or SIGNAL_WORK came: the checks begin if there is a handover. Owner. */
void newcomer_begin(struct actor *actor);

/* Checks after SIGNAL_TIME. Returns the time of the next check, or TIMER_NEVER. Owner. */
uint64_t newcomer_time(struct actor *actor, uint64_t now_ns);

#endif
