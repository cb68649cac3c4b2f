/*
 * actor/output.h - emitting, and waiting for room without holding a thread. Owner's turn only.
 *
 * What finds no room stays in the place's outbox, in order; the input that caused it is held, and
 * the worker takes nothing new until the outbox is empty. Of a message that goes to every member of
 * a pool only the copies stay that found no room, each for its member.
 */
#ifndef ACTOR_OUTPUT_H
#define ACTOR_OUTPUT_H

#include "actor/place.h"

/* As weir_emit. */
int output_emit(struct actor *actor, uint32_t output, struct message *message);

/* Sends what it can of the outbox; waits for room for the rest. True when it is empty. */
bool output_flush(struct actor *actor);

/* The worker ends for good: what is left is dead `no_target`. */
void output_drop_all(struct actor *actor);

static inline bool output_is_waiting(const struct actor *actor)
{
    return actor->place && actor->place->outbox.count > 0;
}

#endif
