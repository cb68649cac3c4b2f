/* SPDX-License-Identifier: MIT */
/*
 * actor/origin.h - notifies the origin of a message of its outcome.
 *
 * The origin of a message is the incarnation that called weir_set_origin. When the message is
 * settled, settle.c passes it to origin_notify: the message itself becomes the notice, and goes
 * through the origin's control queue, which has no limit. So a notice needs no memory, is never
 * refused, and cannot be sent twice. Notices to an origin that has ended are dropped and counted.
 *
 *      set_origin --> sent, forwarded, moved ... --> settled --> notice --> `settled` is called
 *           \-> freed unsent: no notice
 *
 * Owner's turn of the origin, except origin_notify: any thread, in a read section.
 */
#ifndef ACTOR_ORIGIN_H
#define ACTOR_ORIGIN_H

#include "actor/actor_ext.h"

/* The end of a message. */
struct settlement {
    enum weir_result result;
    enum dead_reason reason; /* of a dead message */
    uint64_t delay_ms;       /* of a message that will be sent again */
    const char *detail;      /* borrowed */
    uint64_t record;         /* of a dead message: its number in the store; 0: it is not stored */
};

/* Makes the actor's present incarnation the origin of a message that it owns. WEIR_EINVALID,
 * WEIR_ENOMEM. */
int origin_set(struct actor *actor, struct message *message, uint64_t token);

/* True for a message that is joined by the messages that are emitted while it is in hand. A group
 * (group.h) counts only its own messages. */
static inline bool origin_is_followed(const struct message *message)
{
    return (message->public.reserved & MESSAGE_JOINED) ||
           ((message->public.reserved & MESSAGE_ORIGIN) && message->origin != 0);
}

/* Makes a message join `with`, a message in hand that is followed: the origin is notified when
 * both are settled. WEIR_ENOMEM. */
int origin_join(struct message *message, struct message *with);

/* Turns a message with an origin into the notice and sends it, when its record is stored. Takes the
 * message. */
void origin_notify(struct runtime *runtime, struct executor *executor, struct message *message,
                   const struct settlement *settlement);

/* Settles a message that has joined, when its record is stored: the last one of its join becomes
 * the notice. Takes it. */
void origin_leave(struct runtime *runtime, struct executor *executor, struct message *message,
                  const struct settlement *settlement);

/* Continues origin_notify or origin_leave after the record was stored, or could not be: storing.h
 * calls it. Takes the message. */
void origin_stored(struct runtime *runtime, struct executor *executor, struct message *message,
                   bool is_stored);

/* Frees a message that was never sent, as origin_discard, but on any thread in a read section: its
 * origin forgets it, or it leaves its join. Takes it. */
void origin_free(struct runtime *runtime, struct executor *executor, struct message *message);

/* Handles a notice. Takes it. */
void origin_arrived(struct actor *actor, struct message *notice);

/* Frees a message of this actor that was never sent. Takes it; NULL is allowed. */
void origin_discard(struct actor *actor, struct message *message);

/* The incarnation ends: notices that arrive from now on are dropped. */
void origin_forget_all(struct actor *actor);

/* True while some of its messages are not settled. */
static inline bool origin_is_open(const struct actor *actor)
{
    return actor->ext && actor->ext->origins_open > 0;
}

#endif
