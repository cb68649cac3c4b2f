/* SPDX-License-Identifier: MIT */
/*
 * actor/lifecycle.h - the states of an actor, and the legal transitions.
 *
 *            spawn                       OPENED
 *   (slot) --------> STARTING --------------------------------> OPEN
 *                    |  ^ ^ |  <------- FAILED, AGAIN ---------  |
 *             PAUSED |  | | | GIVEN_UP                           |
 *                    v  | | v                                    |
 *   DUE, AGAIN: WAITING-+ +-STOPPED: AGAIN                       |
 *                    ^         |                                 |
 *                    +-PAUSED--+                                 |
 *                                                                v
 *   each of them --- CLOSED ---> CLOSED --- ENDED ---> ENDED ---> (slot, after a grace period)
 *              \------------------ ENDED -----------/
 *
 * AGAIN leads to STARTING from each state before CLOSED, and PAUSED, from each state without an
 * incarnation, to WAITING. CLOSED is entered while the outbox has messages or children live, and
 * left when they are gone.
 *
 * Whether the actor is to end is no state: it may leave in each of them (enum actor_leaving).
 * backoff.h decides which event follows a failure.
 *
 * One table in lifecycle.c has the legal transitions. The owner's turn alone changes the state, by
 * lifecycle_apply; an event for which the table has no edge is a bug of the runtime.
 */
#ifndef ACTOR_LIFECYCLE_H
#define ACTOR_LIFECYCLE_H

#include <stdbool.h>

#include "actor/actor.h"

enum actor_state {
    ACTOR_STARTING, /* its next turn calls `open` */
    ACTOR_OPEN,
    ACTOR_WAITING, /* opens after a pause */
    ACTOR_STOPPED, /* failed too often; closed until an operator or the owner restarts it */
    ACTOR_CLOSED,  /* `close` was called for good; its outbox or children are left */
    ACTOR_ENDED,
    ACTOR_STATES,
};

enum life_event {
    LIFE_OPENED,   /* `open` succeeded */
    LIFE_FAILED,   /* the incarnation failed, and another one follows */
    LIFE_AGAIN,    /* another incarnation follows, without a failure of this one */
    LIFE_PAUSED,   /* the next `open` waits */
    LIFE_DUE,      /* the pause is over */
    LIFE_GIVEN_UP, /* it failed too often */
    LIFE_CLOSED,   /* no other incarnation follows; its outbox or children are left */
    LIFE_ENDED,
    LIFE_EVENTS,
};

static inline enum actor_state actor_state(const struct actor *actor)
{
    return (enum actor_state)atomic_load_explicit(&actor->state, memory_order_acquire);
}

/* Takes the actor from its state to the next one. Owner. */
void lifecycle_apply(struct actor *actor, enum life_event event);

/* Whether the event is legal in the state. */
bool lifecycle_is_legal(enum actor_state state, enum life_event event);

/* The bit of an edge in runtime->edges, which records the edges that actors have taken. */
static inline uint64_t lifecycle_edge(enum actor_state state, enum life_event event)
{
    return (uint64_t)1 << ((unsigned)state * LIFE_EVENTS + (unsigned)event);
}

/* For people. */
const char *lifecycle_state_name(enum actor_state state);
const char *lifecycle_event_name(enum life_event event);

#endif
