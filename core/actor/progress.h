/*
 * actor/progress.h - how far actors are: what they told of each unit, and how much they emitted,
 * added up for people.
 *
 * An actor's own figures lie in its place and are written by its owner; a sum belongs to whoever
 * adds up. What has ended goes on to count: its place is added to a sum that stays.
 */
#ifndef ACTOR_PROGRESS_H
#define ACTOR_PROGRESS_H

#include "actor/place.h"

/* What is told of one unit. */
struct pool_progress {
    const char *unit; /* a constant of a plugin; NULL: none */
    uint64_t done;
    uint64_t total;
};

struct progress_sum {
    struct pool_progress units[PLACE_UNITS]; /* from the front */
    uint64_t emitted;                        /* messages that the pools behind outputs accepted */
    uint64_t unbound;                        /* freed behind outputs that lead nowhere */
};

/* Another incarnation of the actor opens: what it tells adds to what the former ones had done. Not
 * for a source, which tells how far it is from its position on. Owner. */
void progress_go_on(struct place *place);

/* Adds one sum to another. */
void progress_add(struct progress_sum *sum, const struct progress_sum *other);

/* Adds what the actor of a place has told and emitted, and its children. Any thread for which the
 * place lives. */
void progress_add_place(struct progress_sum *sum, struct place *place);

/* The units of a sum, at most `max`; how many. */
uint32_t progress_list(const struct progress_sum *sum, struct pool_progress *out, uint32_t max);

#endif
