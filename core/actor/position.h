/* SPDX-License-Identifier: MIT */
/*
 * actor/position.h - the position of a source, as bytes of its own, where the next source
 * continues.
 *
 * The owner of the struct owns it. Not synchronised.
 */
#ifndef ACTOR_POSITION_H
#define ACTOR_POSITION_H

#include <stdbool.h>
#include <stddef.h>

struct position {
    void *data; /* owned; NULL = none */
    size_t size;
    bool lost; /* there was one, but it is unknown now */
};

/* True when there is a position, or there was one. */
static inline bool position_is_left(const struct position *position)
{
    return position->data || position->lost;
}

/* Replaces it by a copy. WEIR_EINVALID (over WEIR_POSITION_MAX), WEIR_ENOMEM: it is unchanged. */
int position_set(struct position *position, const void *data, size_t size);

/* Moves the position from `from` to `to`. */
void position_move(struct position *to, struct position *from);

/* Frees its memory. */
void position_clear(struct position *position);

#endif
