/*
 * actor/wanted.h - whether anybody still wants a message to be handled.
 *
 * One answer for the time-out and the cancel of a request (request.h), the cancel of a group
 * (group.h), and the order to the worker to stop. Owner's turn.
 */
#ifndef ACTOR_WANTED_H
#define ACTOR_WANTED_H

#include "actor/actor.h"

/* Before a message begins: 0, or the reason why it must not: WEIR_ETIMEOUT, WEIR_ECANCELLED. */
int wanted_status(struct actor *actor, const struct message *message);

/* While it is handled or kept, as weir_time_left: 0 = nobody wants it any more. */
uint64_t wanted_time_left_ms(struct actor *actor, const struct message *message);

#endif
