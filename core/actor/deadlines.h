/* SPDX-License-Identifier: MIT */
/*
 * actor/deadlines.h - the deadlines of an actor's requests and alarms in one heap.
 *
 * A deadline belongs to an entry of ext->pending or ext->alarms, which has its place in the
 * heap. So setting, moving and clearing a deadline costs O(log n).
 *
 * Owner only.
 */
#ifndef ACTOR_DEADLINES_H
#define ACTOR_DEADLINES_H

#include "actor/actor_ext.h"

/* Reserves memory for one more deadline. WEIR_ENOMEM. */
int deadlines_reserve(struct actor_ext *ext);

/* Sets or moves the deadline of an entry, in memory of deadlines_reserve. */
void deadlines_set(struct actor_ext *ext, enum deadline_kind kind, uint32_t index, uint64_t due_ns);

/* Clears the deadline of an entry; does nothing when it has none. */
void deadlines_clear(struct actor_ext *ext, enum deadline_kind kind, uint32_t index);

/* Takes the earliest deadline off the heap if it is due. False: none is. */
bool deadlines_take_due(struct actor_ext *ext, uint64_t now_ns, struct deadline *out);

/* The earliest deadline; TIMER_NEVER when there is none. */
uint64_t deadlines_next(const struct actor_ext *ext);

/* Frees the memory. */
void deadlines_finish(struct deadlines *deadlines);

#endif
