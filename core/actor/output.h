/*
 * actor/output.h - emits messages, and waits for room without blocking a thread. Owner's turn only.
 *
 * Messages without room stay in the place's outbox, in order; the message whose handling emitted
 * them is settled later, and the worker takes no new message until the outbox is empty. Copies of a
 * broadcast without room wait there, each for its member (fan_out.h), in front of all messages that
 * were emitted later. They do not count in the bound of the outbox, since at most one message has
 * waiting copies at a time.
 */
#ifndef ACTOR_OUTPUT_H
#define ACTOR_OUTPUT_H

#include "actor/place.h"

/* As weir_emit. */
int output_emit(struct actor *actor, uint32_t output, struct message *message);

/* Sends as much of the outbox as it can; waits for room for the rest. True when it is empty. */
bool output_flush(struct actor *actor);

/* Called when the worker ends for good: makes the rest dead `no_target`. */
void output_drop_all(struct actor *actor);

static inline bool output_is_waiting(const struct actor *actor)
{
    return actor->place && actor->place->outbox.count + actor->place->copies.count > 0;
}

#endif
