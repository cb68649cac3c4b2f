/* SPDX-License-Identifier: MIT */
/*
 * actor/put_back.h - a message that the worker has not begun goes back to the front: weir_put_back.
 * Owner's turn only.
 */
#ifndef ACTOR_PUT_BACK_H
#define ACTOR_PUT_BACK_H

#include "actor/actor.h"

/* Takes the message in hand, or a kept one, on 0. WEIR_EINVALID, WEIR_ENOMEM. */
int put_back(struct actor *actor, struct message *message);

#endif
