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
};

/* Makes the actor's present incarnation the origin of a message that it owns. WEIR_EINVALID,
 * WEIR_ENOMEM. */
int origin_set(struct actor *actor, struct message *message, uint64_t token);

/* Turns a message with an origin into the notice and sends it. Takes the message. */
void origin_notify(struct runtime *runtime, struct executor *executor, struct message *message,
                   const struct settlement *settlement);

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
