/* SPDX-License-Identifier: MIT */
/*
 * actor/settle.h - ends accepted messages; no other module does.
 *
 * A message is settled exactly once. Each function here takes the message, answers its requester if
 * it is a request without a reply, notifies its origin if it has one (origin.h), counts it, and
 * frees it or passes it on. Owner's turn only, except settle_stray.
 *
 *      popped ----> in hand ---> done       (stats/ledger.h: each arrow is one store)
 *                    |   ^  \--> dead(reason)
 *                    v   |   \-> moved
 *                    held        (retry due, outbox empty)
 */
#ifndef ACTOR_SETTLE_H
#define ACTOR_SETTLE_H

#include "actor/actor.h"
#include "dispatch/layout.h"
#include "stats/dead_letters.h"

/* Counts a message that was taken from the queue of the pool. */
void settle_pulled(struct actor *actor);

/* Ends a handled message that answers a requester, notifies an origin, or holds more than its own
 * memory. Takes it. */
void settle_answer_done(struct actor *actor, struct message *message);

/* Ends a handled message outside the ledger. Takes it. Inline, as settle_done: each message that is
 * handled needs it. */
static inline void settle_end_done(struct actor *actor, struct message *message)
{
    if (message->public.kind != WEIR_REQUEST &&
        !(message->public.reserved & (MESSAGE_ORIGIN | MESSAGE_HOLDS)))
        cache_give(&actor->executor->cache, message);
    else
        settle_answer_done(actor, message);
}

/* The message was handled. */
static inline void settle_done(struct actor *actor, struct message *message)
{
    ledger_count(&actor->ledger.done);
    settle_end_done(actor, message);
}

/* The current message is dead. Its requester gets `status`. */
void settle_dead(struct actor *actor, struct message *message, enum dead_reason reason, int status);

/* The message went to another actor that accepted it; not freed. */
void settle_moved(struct actor *actor);

/* The message is to be retried: returns to its origin, which sends it again. Counts as moved. */
void settle_returned(struct actor *actor, struct message *message, uint64_t delay_ms);

/* The message was forwarded; not freed. */
void settle_forwarded(struct actor *actor);

/* Counts the current message as held, and as current again. */
void settle_hold(struct actor *actor);
void settle_unhold(struct actor *actor);

/* Copies have taken the place of a message that no actor has accepted. */
void settle_copied(struct runtime *runtime, struct executor *executor, struct message *message);

/* A message outside the ledger (urgent, high, control) was handled, or is dead. */
void settle_outside_ledger(struct actor *actor, struct message *message, int status,
                           enum dead_reason reason);

/* A message that no actor accepted, or whose actor is gone. `record`: of its dead letter in the
 * store; 0: it is not stored. Any thread. */
void settle_stray(struct runtime *runtime, struct executor *executor, struct message *message,
                  enum dead_reason reason, int status, uint64_t record);

/* A TAKE of the shared queue that ends without a lease. It is no message of the user, and so no
 * dead letter: its taker gets `status`, and it counts as moved. */
void settle_take(struct actor *actor, struct message *take, int status);

/* A message emitted at an unbound output: freed, and counted as done. */
void settle_unwanted(struct actor *actor, struct message *message);

/* Adds a dead letter to the place's, appends it to the store, and logs it. Does not take the
 * message. `way` is the address for a replay; NULL: the pool, or, outside the ledger, this actor.
 * Returns the number of its record in the store; 0: it is not stored. */
uint64_t settle_record(struct actor *actor, const struct message *message, enum dead_reason reason,
                       const struct dead_letter_way *way, const char *detail);

#endif
