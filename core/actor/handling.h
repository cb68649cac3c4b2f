/* SPDX-License-Identifier: MIT */
/*
 * actor/handling.h - calls `handle` for one message and carries out its verdict. Owner only.
 */
#ifndef ACTOR_HANDLING_H
#define ACTOR_HANDLING_H

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/settle.h"

/* Passes the message to the behaviour, and carries out its verdict. Takes the message. */
void handling_run(struct actor *actor, struct message *message);

/* Carries out the verdict of `handle` for the current message, if there is still one. */
void handling_finish(struct actor *actor, int verdict);

/* Calls `flush` of an open actor whose behaviour has it. */
void handling_flush(struct actor *actor);

/* As handling_run for a message of the normal lane and a plain actor (see actor_disturb): most
 * messages are handled here. */
static inline void handling_run_plain(struct actor *actor, struct message *message)
{
    int verdict;

    actor->current = message;
    actor->retry_after_ms = 0;
    actor_ext_clear_detail(actor);
    actor_set_busy(actor, ACTOR_HANDLES);
    callback_begin_plain(actor, NOTE_HANDLE, message->public.tag);
    verdict = actor->spec->behaviour->handle(&actor->self, actor->memory, &message->public);
    callback_end_plain(actor->executor);
    actor_set_busy(actor, ACTOR_FREE);
    /* The handler may have forwarded the message, or disturbed the actor, such as by an outbox. */
    if (verdict == WEIR_DONE && actor->current && (actor->flags & ACTOR_PLAIN) &&
        !callback_is_left(actor)) {
        actor->current = NULL;
        settle_done(actor, message);
    } else {
        handling_finish(actor, verdict);
    }
}

#endif
