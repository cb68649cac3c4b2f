/* SPDX-License-Identifier: MIT */
/*
 * actor/outbox.h - what an actor needs when its emitted messages must wait.
 *
 * A source gets its outbox at its creation; a worker gets it at the first emit that must wait,
 * since most workers of large pools never emit. Owner only, but for `token_wait.messages`
 * and `waits_at`.
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
    /* owner writes, for people: 1 + the output at which it waits, for room unless `token_wait` has
     * messages; 0: it does not wait */
    _Atomic uint32_t waits_at;
};

/* NULL when memory is out. */
struct outbox *outbox_create(struct actor *actor);

/* The output of the message that goes next; the outbox is not empty. Owner. */
uint32_t outbox_next_output(const struct outbox *outbox);

/* Notes at which output its actor waits. Owner. */
static inline void outbox_note_wait(struct outbox *outbox, uint32_t output)
{
    /* Relaxed: a figure for people. */
    atomic_store_explicit(&outbox->waits_at, output + 1, memory_order_relaxed);
}

/* Notes that its actor does not wait. Owner. */
static inline void outbox_note_room(struct outbox *outbox)
{
    atomic_store_explicit(&outbox->waits_at, 0, memory_order_relaxed); /* as above */
}

/* Of an outbox that is in no wait queue. NULL is allowed. */
void outbox_destroy(struct outbox *outbox);

#endif
