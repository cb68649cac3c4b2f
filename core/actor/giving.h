/* SPDX-License-Identifier: MIT */
/*
 * actor/giving.h - ensures that a plugin passes a message to the host only once.
 *
 * A plugin that sends, or frees, a message twice would corrupt queues. The message is marked before
 * it is passed, and unmarked when it is refused; the memory of an ended message keeps its mark
 * until it is reused, so most mistakes are found without a list of messages. A mistake after the
 * reuse is not: the test kit finds that, too. Owner's turn.
 */
#ifndef ACTOR_GIVING_H
#define ACTOR_GIVING_H

#include "actor/callback.h"

/* True: the message belongs to the plugin, and is marked now. False: it was passed before, is the
 * current one or is kept; the misuse is reported. */
static inline bool giving_begin(struct actor *actor, struct message *message);

/* As giving_begin, for a call that has entered the host. 0; WEIR_ETERMINATED: the worker was left
 * behind; WEIR_EINVALID: giving_begin has refused it. */
static inline int giving_enter(struct actor *actor, struct message *message);

/* Reports that the message is not the plugin's. Returns false. */
bool giving_refused(struct actor *actor);

/* Records the host's `status`, and returns it. A refused message belongs to the plugin again. */
static inline int giving_end(struct message *message, int status)
{
    if (status != 0)
        message->public.reserved &= ~(uint32_t)(MESSAGE_GIVEN | MESSAGE_OWN);
    return status;
}

/* As giving_begin for a chain; none of them is marked when it returns false. */
bool giving_begin_chain(struct actor *actor, struct message *const *messages, uint32_t count);

/* As giving_end for the first `taken` messages; returns `taken`. */
int giving_end_chain(struct message *const *messages, uint32_t count, int taken);

static inline bool giving_begin(struct actor *actor, struct message *message)
{
    if (message->public.reserved & (MESSAGE_GIVEN | MESSAGE_KEPT) || message == actor->current)
        return giving_refused(actor);
    message->public.reserved |= MESSAGE_GIVEN;
    return true;
}

static inline int giving_enter(struct actor *actor, struct message *message)
{
    if (callback_is_left(actor))
        return WEIR_ETERMINATED;
    return giving_begin(actor, message) ? 0 : WEIR_EINVALID;
}

#endif
