/* SPDX-License-Identifier: MIT */
/*
 * actor/output.h - emits messages, and waits for room and for tokens without blocking a thread.
 * Owner's turn only.
 *
 * Messages without room stay in the place's outbox, in order; the message whose handling emitted
 * them is settled later, and the worker takes no new message until the outbox is empty. Copies of a
 * broadcast without room wait there, each for its member (fan_out.h), in front of all messages that
 * were emitted later. They do not count in the bound of the outbox, since at most one message has
 * waiting copies at a time.
 *
 * A message without a token of its output's rate (tokens.h) is one without room: `when_full`
 * applies. A copy needs no token of its own: the message that was copied has used one.
 */
#ifndef ACTOR_OUTPUT_H
#define ACTOR_OUTPUT_H

#include "actor/place.h"
#include "actor/send.h"
#include "actor/wiring.h"

/* Whether it finds every pool full, since it is a paused source or a child of one. One that leaves
 * finishes, and so do the children of a source that leaves. */
static inline bool output_is_paused(const struct actor *actor)
{
    return __builtin_expect(wiring_is_held(actor->place->wiring), false) && !actor->leaving;
}

bool output_is_paused_for(const struct actor *actor, weir_pid to);

/* Whether a message that the actor itself sends to a PID finds no room: a paused source, or a child
 * of one, and a pool. */
static inline bool output_refuses(const struct actor *actor, weir_pid to)
{
    const bool may_be_paused = actor->kind == ACTOR_SOURCE || (actor->place && actor->place->child);

    return __builtin_expect(may_be_paused, false) && output_is_paused_for(actor, to);
}

/* As send_message, of a message that the actor itself sends. */
static inline int output_send(struct actor *actor, weir_pid to, enum weir_lane lane,
                              struct message *message)
{
    return output_refuses(actor, to)
               ? WEIR_EFULL
               : send_message(actor->runtime, actor->executor, to, lane, message);
}

/* As weir_emit. */
int output_emit(struct actor *actor, uint32_t output, struct message *message);

/* Sends as much of the outbox as it can; waits for room for the rest. True when it is empty. */
bool output_flush(struct actor *actor);

/* How many messages may be emitted now at an output, as far as its rate goes; `max` at most. With 0
 * the actor waits for a token: its timer wakes it. */
uint32_t output_tokens(struct actor *actor, uint32_t output, uint32_t max);

/* Called when the worker ends for good, or may not wait any more: makes the rest dead. */
void output_drop_all(struct actor *actor, enum dead_reason reason, int status);

static inline bool output_is_waiting(const struct actor *actor)
{
    return place_unsent(actor->place) > 0;
}

#endif
