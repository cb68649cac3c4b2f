/*
 * actor/restart.h - another incarnation in the same place: after a failure, or on an order of the
 * owner. Owner's turn only.
 *
 * What follows on a failure is decided by backoff.h, once. An order stands in the place as
 * `renewal`, and SIGNAL_RESTART wakes the actor:
 *
 *      NONE --- ask ---> ASKED ---- nothing kept ---> BEGUN --- open = 0 ---> NONE
 *       | \               |  \--- take back ---> NONE    \--- open < 0 ---> FAILED (as BEGUN)
 *       |  \              v                           ^
 *       |   \-- order --> ORDERED -- next message ----/
 *
 * An actor that was asked takes nothing new until it keeps no message; one that was ordered does
 * not wait for those. A leaving actor does neither.
 */
#ifndef ACTOR_RESTART_H
#define ACTOR_RESTART_H

#include "actor/place.h"

enum renewal {
    RENEWAL_NONE,
    RENEWAL_ASKED,
    RENEWAL_ORDERED,
    RENEWAL_BEGUN,
    RENEWAL_FAILED, /* its open; tried again as after any failure */
};

/* The actor has failed, or its open has: counts that, and says what follows. */
struct backoff_decision restart_decide(struct actor *actor, bool was_open);

/* It is STARTING: it stays so, waits, or stays closed. */
void restart_carry_out(struct actor *actor, struct backoff_decision decision);

/* The pause is over: it is STARTING. Returns the next deadline. */
uint64_t restart_time(struct actor *actor, uint64_t now_ns);

/* Whether the owner's order to restart is to be carried out, at once or when nothing is kept. */
static inline bool restart_is_ordered(const struct actor *actor)
{
    uint8_t renewal;

    if (!actor->place || actor->leaving)
        return false;
    /* Relaxed: a signal follows on each change. */
    renewal = atomic_load_explicit(&actor->place->renewal, memory_order_relaxed);
    return renewal == RENEWAL_ASKED || renewal == RENEWAL_ORDERED;
}

/* Carries the order out if the time for that has come: its bounds are forgotten, too. True: the
 * actor has begun another incarnation, or waits to. */
bool restart_obey(struct actor *actor);

#endif
