/* SPDX-License-Identifier: MIT */
/*
 * window.h - the messages that a child has: those ahead, in the order in which it got them, and
 * those that it keeps.
 *
 * The first one ahead is *in hand*: the child works on it, or is about to. Zeroed memory is an
 * empty window; window_finish frees it. Not synchronised. Messages are borrowed from the host.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/message.h>

/* Messages ahead and kept, together. */
#define WINDOW_MAX 1024u

struct given {
    const struct weir_message *message;
    uint64_t id;
    uint64_t mark;      /* of the outbox: the end of its frame */
    uint32_t bytes;     /* of its payload, cut to 32 bits */
    uint64_t cancelled; /* when the child got to know it, and 1; weir_now_ms; 0 = it does not */
};

struct given_list {
    struct given *rows; /* owned; NULL = none */
    uint32_t begin;
    uint32_t end;
    uint32_t room;
};

struct window {
    struct given_list ahead;
    struct given_list kept;
    uint64_t last_id;
    uint64_t bytes;   /* of those ahead */
    uint64_t written; /* of the outbox when the child ended: frames up to there it may have */
};

static inline uint32_t given_count(const struct given_list *list)
{
    return list->end - list->begin;
}

static inline uint32_t window_count(const struct window *window)
{
    return given_count(&window->ahead) + given_count(&window->kept);
}

void window_finish(struct window *window);
/* The id of the next message. False: memory is out, or the window is full. */
bool window_reserve(struct window *window, uint64_t *out_id);
/* After window_reserve: adds the message behind the others. */
void window_add(struct window *window, const struct weir_message *message, size_t bytes,
                uint64_t mark);

/* The message in hand; NULL: none. Valid until the next change. */
struct given *window_in_hand(struct window *window);
/* The message that a child that ends answers for: the one in hand, if its frame was written, or the
 * oldest kept one. NULL: none. */
struct given *window_blamed(struct window *window);
/* Ahead or kept; NULL: there is none with this id. */
struct given *window_find(struct window *window, uint64_t id);
bool window_is_kept(const struct window *window, uint64_t id);
/* The message that is ahead with this id becomes a kept one. False: there is none, or memory is
 * out. */
bool window_keep(struct window *window, uint64_t id);

/* Takes the message in hand out. There is one. */
const struct weir_message *window_take(struct window *window);
/* Takes a kept message out. NULL: there is none with this id. */
const struct weir_message *window_take_kept(struct window *window, uint64_t id);
/* Takes out the message of window_blamed. There is one. */
const struct weir_message *window_take_blamed(struct window *window);
/* Takes out the oldest message. NULL: there is none. */
const struct weir_message *window_take_oldest(struct window *window);
/* Takes out the oldest message but the blamed one. NULL: there is none. */
const struct weir_message *window_take_innocent(struct window *window);

#endif
