/*
 * actor/origin.h - who is told how a message was settled.
 *
 * The origin of a message is the incarnation that called weir_set_origin. Where the message ends,
 * settle.c hands it over to origin_tell: the message itself becomes the notice, and goes through
 * the origin's control lane, which has no limit. So telling needs no memory, finds nothing full,
 * and cannot happen twice, for the message is gone. An origin that has ended is not told; that is
 * counted.
 *
 *      set_origin --> sent, forwarded, moved ... --> settled --> notice --> `settled` is called
 *           \-> freed unsent: nobody is told
 *
 * Owner's turn of the origin, but for origin_tell: any thread in a read section.
 */
#ifndef ACTOR_ORIGIN_H
#define ACTOR_ORIGIN_H

#include "actor/extra.h"

/* The end of a message. */
struct settlement {
    enum weir_result result;
    enum dead_reason reason; /* of a dead message */
    uint64_t delay_ms;       /* of a message that will come again */
    const char *detail;      /* borrowed */
};

/* Makes the actor's present incarnation the origin of a message that it owns. WEIR_EINVALID,
 * WEIR_ENOMEM. */
int origin_set(struct actor *actor, struct message *message, uint64_t token);

/* Turns a message with an origin into the notice and sends it. Takes the message. */
void origin_tell(struct runtime *runtime, struct executor *executor, struct message *message,
                 const struct settlement *settlement);

/* Handles a notice. Takes it. */
void origin_told(struct actor *actor, struct message *notice);

/* Frees a message of this actor that was never sent. Takes it; NULL is allowed. */
void origin_discard(struct actor *actor, struct message *message);

/* Forgets all of them: no notice counts any more. */
void origin_forget_all(struct actor *actor);

/* True while some of its messages are not settled. */
static inline bool origin_is_open(const struct actor *actor)
{
    return actor->extra && actor->extra->origins_open > 0;
}

#endif
