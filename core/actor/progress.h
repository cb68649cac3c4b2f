/* SPDX-License-Identifier: MIT */
/*
 * actor/progress.h - the progress of actors: the units that they reported, and the messages that
 * they emitted, added up for people.
 *
 * An actor's own figures are in its place, and its owner writes them; a sum belongs to the thread
 * that adds up. Ended actors still count: their place is added to a sum that stays.
 */
#ifndef ACTOR_PROGRESS_H
#define ACTOR_PROGRESS_H

#include "actor/place.h"

struct progress_sum {
    struct pool_progress units[PLACE_UNITS]; /* from the front */
    uint64_t emitted;                        /* messages that pools at outputs accepted */
    uint64_t unbound;                        /* messages emitted at unbound outputs, and freed */
    uint64_t throttled;                      /* messages that wait for a token now */
};

/* Another incarnation of the actor opens: its reports add to those of the former ones. Not for a
 * source, whose reports include its position. Owner. */
void progress_go_on(struct place *place);

/* Adds a sum of actors that have ended to another: without their gauges. */
void progress_add(struct progress_sum *sum, const struct progress_sum *other);

/* Adds the progress and emitted messages of the actor of a place, without its children. Any thread
 * for which the place lives. */
void progress_add_place(struct progress_sum *sum, struct place *place);

/* Lists the units of a sum, at most `max`; returns their number. */
uint32_t progress_list(const struct progress_sum *sum, struct pool_progress *out, uint32_t max);

#endif
