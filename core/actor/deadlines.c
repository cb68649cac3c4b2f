/* SPDX-License-Identifier: MIT */
#include "actor/deadlines.h"

#include <stdlib.h>

#define CAPACITY_MIN 8

int deadlines_reserve(struct actor_ext *ext)
{
    struct deadlines *deadlines = &ext->deadlines;
    uint32_t capacity = deadlines->capacity ? deadlines->capacity * 2 : CAPACITY_MIN;
    struct deadline *heap;

    if (deadlines->count < deadlines->capacity)
        return 0;
    heap = realloc(deadlines->heap, capacity * sizeof *heap);
    if (!heap)
        return WEIR_ENOMEM;
    deadlines->heap = heap;
    deadlines->capacity = capacity;
    return 0;
}

/* The field of an entry with its place in the heap: index + 1; 0 = it has no deadline. */
static uint32_t *place_of(struct actor_ext *ext, enum deadline_kind kind, uint32_t index)
{
    return kind == DEADLINE_REQUEST ? &ext->pending[index].place : &ext->alarms[index].place;
}

static void put(struct actor_ext *ext, uint32_t at, struct deadline deadline)
{
    ext->deadlines.heap[at] = deadline;
    *place_of(ext, deadline.kind, deadline.index) = at + 1;
}

/* Puts a deadline at `at` or above it. */
static void sift_up(struct actor_ext *ext, uint32_t at, struct deadline deadline)
{
    const struct deadline *heap = ext->deadlines.heap;

    while (at > 0 && heap[(at - 1) / 2].due_ns > deadline.due_ns) {
        put(ext, at, heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(ext, at, deadline);
}

/* Puts a deadline at `at` or below it. */
static void sift_down(struct actor_ext *ext, uint32_t at, struct deadline deadline)
{
    const struct deadlines *deadlines = &ext->deadlines;

    for (uint32_t child; (child = 2 * at + 1) < deadlines->count; at = child) {
        if (child + 1 < deadlines->count &&
            deadlines->heap[child + 1].due_ns < deadlines->heap[child].due_ns)
            child++;
        if (deadline.due_ns <= deadlines->heap[child].due_ns)
            break;
        put(ext, at, deadlines->heap[child]);
    }
    put(ext, at, deadline);
}

static void sift(struct actor_ext *ext, uint32_t at, struct deadline deadline)
{
    if (at > 0 && ext->deadlines.heap[(at - 1) / 2].due_ns > deadline.due_ns)
        sift_up(ext, at, deadline);
    else
        sift_down(ext, at, deadline);
}

void deadlines_clear(struct actor_ext *ext, enum deadline_kind kind, uint32_t index)
{
    struct deadlines *deadlines = &ext->deadlines;
    uint32_t *place = place_of(ext, kind, index);
    uint32_t at = *place - 1;

    if (*place == 0)
        return;
    *place = 0;
    if (at != --deadlines->count)
        sift(ext, at, deadlines->heap[deadlines->count]);
}

void deadlines_set(struct actor_ext *ext, enum deadline_kind kind, uint32_t index, uint64_t due_ns)
{
    struct deadline deadline = { .due_ns = due_ns, .index = index, .kind = kind };

    deadlines_clear(ext, kind, index);
    sift_up(ext, ext->deadlines.count++, deadline);
}

bool deadlines_take_due(struct actor_ext *ext, uint64_t now_ns, struct deadline *out)
{
    if (deadlines_next(ext) > now_ns)
        return false;
    *out = ext->deadlines.heap[0];
    deadlines_clear(ext, out->kind, out->index);
    return true;
}

uint64_t deadlines_next(const struct actor_ext *ext)
{
    return ext->deadlines.count ? ext->deadlines.heap[0].due_ns : TIMER_NEVER;
}

void deadlines_finish(struct deadlines *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct deadlines){ 0 };
}
