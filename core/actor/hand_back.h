/*
 * actor/hand_back.h - a worker that leaves while others stay passes on what it has not begun.
 *
 * It tries each message when it takes it, so a message goes as soon as a member has room. A message
 * that was sent to the worker itself, or is its own copy or under its lease, stays. A worker that
 * finishes its backlog (LEAVING_FINISHES) handles what finds no room. One that reroutes
 * (LEAVING_REROUTES) handles none of it: such messages wait here, in order, and the worker stands
 * in the pool's wait queue. Owner's turn only.
 */
#ifndef ACTOR_HAND_BACK_H
#define ACTOR_HAND_BACK_H

#include "actor/actor.h"

struct hand_back;

/* A leaving actor has taken the message, which is in hand. True: it went to another member or waits
 * here. False: the actor handles it. */
bool hand_back_try(struct actor *actor, struct message *message);

/* Passes a message in hand to another member. Takes it on 0. WEIR_EFULL: no member has room; any
 * other refusal: the message stays with this actor. */
int hand_back_pass(struct actor *actor, struct message *message);

/* Tries the messages that wait here. After the pool has closed they go to the front: the actor
 * handles them. */
void hand_back_again(struct actor *actor);

/* Takes the first message that waits here out of it, still held; NULL: there is none. */
struct message *hand_back_take(struct actor *actor);

/* Puts the messages that wait here in front: the actor stays, or its time is over. */
void hand_back_cancel(struct actor *actor);

/* The number of messages that wait here. */
uint32_t hand_back_count(const struct actor *actor);

/* At the end of the actor. NULL is allowed. */
void hand_back_destroy(struct hand_back *hand_back, struct executor *executor);

#endif
