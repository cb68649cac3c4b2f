/* SPDX-License-Identifier: MIT */
/*
 * actor/restart.h - another incarnation in the same place: after a failure, or on an order of the
 * owner. Owner's turn only.
 *
 * backoff.h decides about a failure. An order is in the place, as `renewal`, and
 * SIGNAL_RESTART wakes the actor:
 *
 *      NONE --- ask ---> ASKED ---- nothing kept ---> BEGUN --- open = 0 ---> NONE
 *       | \               |  \--- take back ---> NONE    \--- open < 0 ---> FAILED (as BEGUN)
 *       |  \              v                           ^
 *       |   \-- order --> ORDERED -- next message ----/
 *
 * An ASKED actor takes no new message until it keeps none; an ORDERED one does not wait for kept
 * messages. A leaving actor ignores both.
 */
#ifndef ACTOR_RESTART_H
#define ACTOR_RESTART_H

#include "actor/place.h"

enum renewal {
    RENEWAL_NONE,
    RENEWAL_ASKED,
    RENEWAL_ORDERED,
    RENEWAL_BEGUN,
    RENEWAL_FAILED, /* its open failed; restarted as after any failure */
};

/* Counts a failure of the actor, or of its open, and returns the decision. */
struct backoff_decision restart_decide(struct actor *actor, bool was_open);

/* Carries out the decision for an actor that is STARTING: it stays so, waits, or stays closed. */
void restart_carry_out(struct actor *actor, struct backoff_decision decision);

/* Ends the incarnation after a failure; another one follows by the `restart` of its spec. An actor
 * that is not restarted, or that leaves with an empty backlog, ends. */
void restart_after_failure(struct actor *actor, enum weir_end_reason reason);

/*
 * Ends the incarnation, if there is one, without a failure; another one follows at once. NORMAL:
 * the behaviour stopped it; REPLACED: another behaviour follows; SHUTDOWN: an order to restart. An
 * actor that is not restarted ends.
 */
void restart_at_once(struct actor *actor, enum weir_end_reason reason);

/* Makes a waiting actor STARTING when its pause is over. Returns the next deadline. */
uint64_t restart_time(struct actor *actor, uint64_t now_ns);

/* True when a reload may still undo an actor that it has made. */
bool restart_is_on_trial(const struct actor *actor);

/* True when an order to restart is in force. */
static inline bool restart_is_ordered(const struct actor *actor)
{
    uint8_t renewal;

    if (!actor->place || actor->leaving)
        return false;
    /* Relaxed: a signal follows on each change. */
    renewal = atomic_load_explicit(&actor->place->renewal, memory_order_relaxed);
    return renewal == RENEWAL_ASKED || renewal == RENEWAL_ORDERED;
}

/* Carries the order out if it may begin now, and resets the count of failures. True: another
 * incarnation has begun, or waits for its pause. */
bool restart_obey(struct actor *actor);

#endif
