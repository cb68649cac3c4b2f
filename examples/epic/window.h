/* SPDX-License-Identifier: MIT */
/*
 * window.h - the master's local queue: pieces in the order of their
 * numbers, until they are settled.
 *
 * A piece is queued, then sent, then settled; one that was lost on its way is queued again. Settled
 * pieces leave at the front only, so everything before the front is settled.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_SIZE 1024u /* pieces that are not settled, or settled behind one that is not */
#define WINDOW_REASON_MAX 96u

enum piece_state {
    PIECE_QUEUED = 0,
    PIECE_SENT,
    PIECE_DONE,
    PIECE_FAILED,
};

struct piece {
    int64_t id;
    enum piece_state state;
    char reason[WINDOW_REASON_MAX]; /* of PIECE_FAILED */
};

/* Zeroed memory is an empty window. Places are counted from 0 and never reused. */
struct window {
    struct piece pieces[WINDOW_SIZE];
    uint64_t first; /* the front */
    uint64_t next;  /* all before it are sent or settled */
    uint64_t end;
};

static inline uint32_t window_room(const struct window *window)
{
    return WINDOW_SIZE - (uint32_t)(window->end - window->first);
}

static inline bool window_is_empty(const struct window *window)
{
    return window->first == window->end;
}

/* The piece at a place. */
static inline struct piece *window_at(struct window *window, uint64_t place)
{
    return &window->pieces[place % WINDOW_SIZE];
}

/* Adds a piece. There is room. */
void window_add(struct window *window, int64_t id);
/* Finds the first queued piece. False: there is none. */
bool window_next(struct window *window, uint64_t *out_place);
/* Queues a piece again. */
void window_again(struct window *window, uint64_t place);
/* The number of settled pieces at the front. */
uint32_t window_settled(struct window *window);
/* Takes settled pieces away, from the front. */
void window_drop(struct window *window, uint32_t count);

#endif
