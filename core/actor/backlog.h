/* SPDX-License-Identifier: MIT */
/*
 * actor/backlog.h - messages that an actor has accepted and does not handle now: its mailbox, the
 * messages in front of that, those of hand_back.h, and retries. Owner's turn only.
 */
#ifndef ACTOR_BACKLOG_H
#define ACTOR_BACKLOG_H

#include "actor/actor_ext.h"
#include "actor/front.h"

/* True when no message waits in the lanes, in front of them, or for a retry. */
bool backlog_is_empty(struct actor *actor);

/* The number of retries and postponed messages that wait. */
static inline uint32_t backlog_retries(const struct actor *actor)
{
    const struct message_list *waits = actor->ext ? actor->ext->waits : NULL;

    return waits ? waits[WAITS_POSTPONED].count + waits[WAITS_RETRY].count : 0;
}

/* True when the largest number of retries waits, or a postponed message: the actor takes no
 * message. */
static inline bool backlog_is_at_retries_max(const struct actor *actor)
{
    return backlog_retries(actor) >= SPEC_RETRIES_MAX ||
           (actor->ext && actor->ext->waits[WAITS_POSTPONED].count > 0);
}

/* Carries out the verdict RETRY: takes the current message; dead `retries` after too many attempts.
 * */
void backlog_retry(struct actor *actor, struct message *message);
/* Carries out the verdict POSTPONE: takes the current message, which comes again as the same
 * attempt, before any other message. */
void backlog_postpone(struct actor *actor, struct message *message);

/* Takes a message that nobody wants any more: with the status that its sender gets. */
typedef void backlog_dropping(struct actor *actor, struct message *message, int status);
/* Moves retries that are due to the front, and drops those that nobody wants. Returns the next
 * deadline. */
uint64_t backlog_time(struct actor *actor, uint64_t now_ns, backlog_dropping *drop);

/* Retries with one of the `flags` wait no longer: they are due now. */
void backlog_hurry(struct actor *actor, uint32_t flags);

/* Passes the backlog to other members of the pool that have room; the rest stays in front. */
void backlog_reroute(struct actor *actor);

/* Where a message of the backlog goes: takes it on 0. After a refusal no other message is tried. */
typedef int backlog_giving(struct actor *actor, struct message *message);

/* As backlog_reroute, by `give`. Returns the refusal of a message that stays; 0: only messages stay
 * that were sent to the actor itself. */
int backlog_pass(struct actor *actor, backlog_giving *give);

/* The next message of the normal lane that was sent to the actor itself, in hand. NULL: none. */
struct message *backlog_take_own(struct actor *actor);

/* Gives messages of one member to others. */
struct dealer {
    struct executor *executor; /* of the calling thread */
    /* Takes the message, and counts it as moved, on 0. */
    int (*give)(void *context, struct message *message);
    void *context;
};

/*
 * Takes up to `most` messages out of the mailbox, in order, and passes each to the dealer. A
 * refused message goes back, and the function ends. Messages that were sent to the actor itself or
 * under a lease, and copies of a broadcast, stay, in order. Returns how many have left the mailbox.
 * Owner's turn, or the holder of its thread in a callback (dispatch/put_offline.h).
 */
uint32_t backlog_deal(struct actor *actor, uint32_t most, const struct dealer *dealer);

/* Makes the backlog dead. */
void backlog_discard(struct actor *actor, enum dead_reason reason, int status);

/* As backlog_discard, also for messages that are admitted but not linked yet. The mailbox is
 * closed. */
void backlog_discard_all(struct actor *actor, enum dead_reason reason, int status);

/* Makes kept messages dead `kept`, after the time-out for them. `are_forgotten`: a misuse, as the
 * behaviour had the time that the pool gives. */
void backlog_discard_kept(struct actor *actor, bool are_forgotten);

#endif
