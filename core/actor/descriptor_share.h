/* SPDX-License-Identifier: MIT */
/*
 * actor/descriptor_share.h - the share of an incarnation: descriptors.h. Owner's turn only.
 */
#ifndef ACTOR_DESCRIPTOR_SHARE_H
#define ACTOR_DESCRIPTOR_SHARE_H

#include "actor/actor.h"

/* The incarnation has ended. The actor has an ext. */
void descriptor_share_end(struct actor *actor);

/* The row of the host table: as weir_set_descriptors. */
int host_set_descriptors(struct weir_self *self, uint32_t count);

#endif
