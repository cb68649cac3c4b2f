#include "actor/deadlines.h"

#include <stdlib.h>

#include "actor/extra.h"

#define CAPACITY_MIN 8

int deadlines_reserve(struct extra *extra)
{
    struct deadlines *deadlines = &extra->deadlines;
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
static uint32_t *place_of(struct extra *extra, enum deadline_kind kind, uint32_t index)
{
    return kind == DEADLINE_REQUEST ? &extra->pending[index].place : &extra->alarms[index].place;
}

static void put(struct extra *extra, uint32_t at, struct deadline deadline)
{
    extra->deadlines.heap[at] = deadline;
    *place_of(extra, deadline.kind, deadline.index) = at + 1;
}

/* Puts a deadline at `at` or above it. */
static void sift_up(struct extra *extra, uint32_t at, struct deadline deadline)
{
    const struct deadline *heap = extra->deadlines.heap;

    while (at > 0 && heap[(at - 1) / 2].due_ns > deadline.due_ns) {
        put(extra, at, heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(extra, at, deadline);
}

/* Puts a deadline at `at` or below it. */
static void sift_down(struct extra *extra, uint32_t at, struct deadline deadline)
{
    const struct deadlines *deadlines = &extra->deadlines;

    for (uint32_t child; (child = 2 * at + 1) < deadlines->count; at = child) {
        if (child + 1 < deadlines->count &&
            deadlines->heap[child + 1].due_ns < deadlines->heap[child].due_ns)
            child++;
        if (deadline.due_ns <= deadlines->heap[child].due_ns)
            break;
        put(extra, at, deadlines->heap[child]);
    }
    put(extra, at, deadline);
}

static void sift(struct extra *extra, uint32_t at, struct deadline deadline)
{
    if (at > 0 && extra->deadlines.heap[(at - 1) / 2].due_ns > deadline.due_ns)
        sift_up(extra, at, deadline);
    else
        sift_down(extra, at, deadline);
}

void deadlines_clear(struct extra *extra, enum deadline_kind kind, uint32_t index)
{
    struct deadlines *deadlines = &extra->deadlines;
    uint32_t *place = place_of(extra, kind, index);
    uint32_t at = *place - 1;

    if (*place == 0)
        return;
    *place = 0;
    if (at != --deadlines->count)
        sift(extra, at, deadlines->heap[deadlines->count]);
}

void deadlines_set(struct extra *extra, enum deadline_kind kind, uint32_t index, uint64_t due_ns)
{
    struct deadline deadline = { .due_ns = due_ns, .index = index, .kind = kind };

    deadlines_clear(extra, kind, index);
    sift_up(extra, extra->deadlines.count++, deadline);
}

bool deadlines_take_due(struct extra *extra, uint64_t now_ns, struct deadline *out)
{
    if (deadlines_next(extra) > now_ns)
        return false;
    *out = extra->deadlines.heap[0];
    deadlines_clear(extra, out->kind, out->index);
    return true;
}

uint64_t deadlines_next(const struct extra *extra)
{
    return extra->deadlines.count ? extra->deadlines.heap[0].due_ns : TIMER_NEVER;
}

void deadlines_finish(struct deadlines *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct deadlines){ 0 };
}
