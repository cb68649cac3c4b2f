/*
 * actor/settle.h - how an accepted message ends: the one place where that happens.
 *
 * A message is settled exactly once. All of these take the message, tell its requester if it was a
 * request without a reply, or its origin if it has one (origin.h), count it, and free it or hand it
 * on. Owner's turn only, but for settle_stray.
 *
 *      popped ----> in hand ---> done       (stats/ledger.h: each arrow is one store)
 *                    |   ^  \--> dead(reason)
 *                    v   |   \-> moved
 *                    held        (retry due, outbox empty)
 */
#ifndef ACTOR_SETTLE_H
#define ACTOR_SETTLE_H

#include "actor/actor.h"
#include "stats/dead_letters.h"

/* Counts a message that came from the queue of the pool into the hand. */
void settle_pulled(struct actor *actor);

/* Handled. */
void settle_done(struct actor *actor, struct message *message);

/* Dead, from the hand. `status` is what a requester is told. */
void settle_dead(struct actor *actor, struct message *message, enum dead_reason reason, int status);

/* Gone to another actor that accepted it; not freed. */
void settle_moved(struct actor *actor);

/* Asked for again: gone back to its origin, who gives it again. Counts as moved. */
void settle_returned(struct actor *actor, struct message *message, uint64_t delay_ms);

/* Handled by passing it on; not freed. */
void settle_forwarded(struct actor *actor);

/* From the hand to held, and back. */
void settle_hold(struct actor *actor);
void settle_unhold(struct actor *actor);

/* A message outside the ledger (urgent, high, control) that is handled, or dead. */
void settle_aside(struct actor *actor, struct message *message, int status,
                  enum dead_reason reason);

/* A message that nobody accepted, or whose actor is gone. Any thread. */
void settle_stray(struct runtime *runtime, struct executor *executor, struct message *message,
                  enum dead_reason reason, int status);

/* Emitted at an output that leads nowhere: nobody wants it, which counts as done. */
void settle_unwanted(struct actor *actor, struct message *message);

/* A letter in the place's dead letters, and a line of the log. Does not take the message. `way`
 * says where it would go if it were sent again; NULL: to the pool, or, outside the ledger, to this
 * actor. */
void settle_record(struct actor *actor, const struct message *message, enum dead_reason reason,
                   const struct dead_letter_way *way, const char *detail);

#endif
