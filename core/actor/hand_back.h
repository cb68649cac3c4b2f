/*
 * actor/hand_back.h - a worker that leaves while others stay passes on what it has not begun.
 *
 * It tries each message when it takes it, so a message goes as soon as a member has room, and
 * handles what finds no room. A message that was sent to the worker itself, or is its own copy or
 * under its lease, stays. Owner's turn only.
 */
#ifndef ACTOR_HAND_BACK_H
#define ACTOR_HAND_BACK_H

#include "actor/actor.h"

/* A leaving actor has taken the message, which is in hand. True: it went to another member. False:
 * the actor handles it. */
bool hand_back_try(struct actor *actor, struct message *message);

/* Passes a message in hand to another member. Takes it on 0. WEIR_EFULL: no member has room; any
 * other refusal: the message stays with this actor. */
int hand_back_pass(struct actor *actor, struct message *message);

#endif
