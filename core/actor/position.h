/*
 * actor/position.h - how far a source was: bytes of its own, which the next one goes on from.
 *
 * Owned by whoever holds the struct. Not synchronised.
 */
#ifndef ACTOR_POSITION_H
#define ACTOR_POSITION_H

#include <stdbool.h>
#include <stddef.h>

struct position {
    void *data; /* owned; NULL = none */
    size_t size;
    bool lost; /* there was one, and nobody knows it any more */
};

/* There is a position, or there was one. */
static inline bool position_is_left(const struct position *position)
{
    return position->data || position->lost;
}

/* Replaces it by a copy. WEIR_EINVALID (over WEIR_POSITION_MAX), WEIR_ENOMEM: it is as it was. */
int position_set(struct position *position, const void *data, size_t size);

/* `to` becomes what `from` was; `from` has none then. */
void position_move(struct position *to, struct position *from);

/* Frees what it holds. */
void position_clear(struct position *position);

#endif
