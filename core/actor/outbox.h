/* SPDX-License-Identifier: MIT */
/*
 * actor/outbox.h - what an actor needs when its emitted messages must wait.
 *
 * A source gets its outbox at its creation; a worker gets it at the first emit that must wait,
 * since most workers of large pools never emit. Owner only, but for `token_wait.messages`.
 */
#ifndef ACTOR_OUTBOX_H
#define ACTOR_OUTBOX_H

#include "actor/tokens.h"
#include "actor/wait_queue.h"
#include "message/message.h"

struct actor;

struct outbox {
    struct actor *actor;         /* const */
    struct message_list waiting; /* emitted, waiting for room, in order */
    struct message_list copies;  /* copies of an earlier message, each for its member */
    struct message *settling; /* the message that is settled when the outbox is empty; NULL: none */
    struct waiter waiter;     /* waits for room behind an output */
    struct token_wait token_wait; /* waits for a token of an output */
};

/* NULL when memory is out. */
struct outbox *outbox_create(struct actor *actor);

/* Of an outbox that is in no wait queue. NULL is allowed. */
void outbox_destroy(struct outbox *outbox);

#endif
