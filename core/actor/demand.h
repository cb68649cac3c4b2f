/* SPDX-License-Identifier: MIT */
/*
 * actor/demand.h - the number of messages that a worker wants to have unsettled at a time.
 *
 * An incarnation begins with the `in_hand` of its behaviour and may lower its demand, down to 0.
 * Owner's turn only.
 */
#ifndef ACTOR_DEMAND_H
#define ACTOR_DEMAND_H

#include "actor/place.h"

/* The largest number of messages that may be unsettled before another one is taken. */
static inline uint32_t demand_of(const struct actor *actor)
{
    return actor->flags & ACTOR_DEMANDS ? actor->place->demand : actor->spec->in_hand_max;
}

/* An incarnation begins. */
static inline void demand_reset(struct actor *actor)
{
    actor->flags &= (uint8_t)~ACTOR_DEMANDS;
}

/* The row of the host table: as weir_set_demand. */
int host_set_demand(struct weir_self *self, uint32_t count);

#endif
