/*
 * actor/giving.h - a message goes from a plugin to the host once.
 *
 * A plugin that sends, or frees, what it has sent before would tie two queues together. The mark is
 * set before the message goes, and taken back when it is refused; the memory of a message that has
 * ended keeps its mark until it is used for another one, so this much is caught without a list of
 * messages. What has been used again is not: the test kit finds that, too. Owner's turn.
 */
#ifndef ACTOR_GIVING_H
#define ACTOR_GIVING_H

#include "actor/actor.h"

/* True: it is the plugin's to give, and is marked. False: it has been given before, is in hand or
 * is kept; that is reported. */
bool giving_begin(struct actor *actor, struct message *message);

/* The host has answered `status`; answers that. What was refused is the plugin's again. */
static inline int giving_end(struct message *message, int status)
{
    if (status != 0)
        message->public.reserved &= ~(uint32_t)MESSAGE_GIVEN;
    return status;
}

/* The same of a chain; 0 of them are marked when it is false. */
bool giving_begin_chain(struct actor *actor, struct message *const *messages, uint32_t count);

/* The host has answered `taken`; answers that. */
int giving_end_chain(struct message *const *messages, uint32_t count, int taken);

#endif
