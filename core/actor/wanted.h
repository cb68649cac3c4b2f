/*
 * actor/wanted.h - finds out whether the result of a message is still wanted.
 *
 * Combines the time-out and the cancel of a request (request.h), the cancel of a group (group.h),
 * and the order to the worker to stop. Owner's turn.
 */
#ifndef ACTOR_WANTED_H
#define ACTOR_WANTED_H

#include "actor/actor.h"

/* Before a message begins: 0, or the reason why it must not: WEIR_ETIMEOUT, WEIR_ECANCELLED. */
int wanted_status(struct actor *actor, const struct message *message);

/* Of a message that is handled or kept, as weir_time_left: 0 = not wanted any more. */
uint64_t wanted_time_left_ms(struct actor *actor, const struct message *message);

#endif
