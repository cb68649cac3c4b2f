/* SPDX-License-Identifier: MIT */
/*
 * actor/hand_back.h - a worker that leaves while others stay passes on what it has not begun.
 *
 * With `drain` it tries each message when it takes it, so a message goes as soon as a member has
 * room, and handles what finds no room. With `reroute` it begins none of the normal lane that
 * another member may get, and tries again and again. A message that was sent to the worker itself,
 * or is its own copy or under its lease, stays. Owner's turn only.
 */
#ifndef ACTOR_HAND_BACK_H
#define ACTOR_HAND_BACK_H

#include "actor/place.h"

/* Passes on what finds room. Under `reroute` a timer is armed for the next try. */
void hand_back_all(struct actor *actor);
/* A timer has fired, or a retry is due. */
void hand_back_time(struct actor *actor);

/* True: under `reroute` the rest waits for room in others, so the actor takes only its own messages
 * (backlog_take_own). */
static inline bool hand_back_awaits_room(const struct actor *actor)
{
    return actor->leaving == LEAVING_REROUTES && actor->place && actor->place->room_pause_ns > 0;
}

/* A leaving actor has taken the message, which is in hand. True: it went to another member. False:
 * the actor handles it. */
bool hand_back_try(struct actor *actor, struct message *message);

/* Passes a message in hand to another member. Takes it on 0. WEIR_EFULL: no member has room; any
 * other refusal: the message stays with this actor. */
int hand_back_pass(struct actor *actor, struct message *message);

#endif
