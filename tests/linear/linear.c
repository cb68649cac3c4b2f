/* SPDX-License-Identifier: MIT */
#include "linear/linear.h"

#include <stdlib.h>
#include <string.h>

#include "linear/model.h"

#define SEEN_AT_FIRST 1024u

struct search {
    const struct history *history;
    /* in the order of their ends, which is mostly the right one */
    struct step steps[HISTORY_STEPS_MAX];
    uint64_t must;      /* the steps that have ended */
    struct model *next; /* MODEL_NEXT_MAX for each step of the path */
    uint64_t *seen;     /* hashes; 0: free */
    uint32_t capacity;  /* a power of two */
    uint32_t count;
};

/* --- what was tried -------------------------------------------------------------------------- */

static uint64_t hash_of(uint64_t behind, const struct model *model)
{
    const unsigned char *bytes = (const unsigned char *)model;
    uint64_t hash = behind * 0x9e3779b97f4a7c15u ^ 0xcbf29ce484222325u;

    for (size_t i = 0; i < sizeof *model; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return (hash ^ hash >> 32) | 1;
}

static uint64_t *place_for(uint64_t *seen, uint32_t capacity, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash >> 20) & (capacity - 1);

    while (seen[at] != 0 && seen[at] != hash)
        at = (at + 1) & (capacity - 1);
    return &seen[at];
}

static void make_room(struct search *search)
{
    uint32_t capacity = search->capacity ? 2 * search->capacity : SEEN_AT_FIRST;
    uint64_t *seen = calloc(capacity, sizeof *seen);

    if (!seen)
        abort();
    for (uint32_t i = 0; i < search->capacity; i++)
        if (search->seen[i] != 0)
            *place_for(seen, capacity, search->seen[i]) = search->seen[i];
    free(search->seen);
    search->seen = seen;
    search->capacity = capacity;
}

static bool is_new(struct search *search, uint64_t behind, const struct model *model)
{
    uint64_t hash = hash_of(behind, model);
    uint64_t *place;

    if (2 * search->count >= search->capacity)
        make_room(search);
    place = place_for(search->seen, search->capacity, hash);
    if (*place == hash)
        return false;
    *place = hash;
    search->count++;
    return true;
}

/* --- the search ------------------------------------------------------------------------------ */

/* A step that began later than this comes after another one. */
static uint32_t horizon(const struct search *search, uint64_t behind)
{
    for (uint32_t i = 0; i < search->history->count; i++)
        if (!(behind >> i & 1)) /* in the order of their ends */
            return search->steps[i].ended;
    return HISTORY_NEVER;
}

/* Recursion depth: the number of steps, at most 64. */
static bool go_on(struct search *search, uint64_t behind, const struct model *model, uint32_t depth)
{
    struct model *next = search->next + (size_t)depth * MODEL_NEXT_MAX;
    uint32_t end = horizon(search, behind);

    if ((behind & search->must) == search->must)
        return true;
    if (!is_new(search, behind, model))
        return false;
    for (uint32_t i = 0; i < search->history->count; i++) {
        uint32_t ways;

        if ((behind >> i & 1) || search->steps[i].began >= end)
            continue;
        ways = model_step(model, search->history, &search->steps[i], next);
        for (uint32_t way = 0; way < ways; way++)
            if (go_on(search, behind | 1ull << i, &next[way], depth + 1))
                return true;
    }
    return false;
}

static int by_end(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    return x->ended < y->ended ? -1 : x->ended > y->ended;
}

bool linear_check(const struct history *history)
{
    struct search search = { .history = history };
    struct model first;
    bool is_linear;

    if (history->count > HISTORY_STEPS_MAX)
        abort();
    memcpy(search.steps, history->steps, sizeof search.steps);
    qsort(search.steps, history->count, sizeof search.steps[0], by_end);
    for (uint32_t i = 0; i < history->count; i++)
        if (search.steps[i].ended != HISTORY_NEVER) {
            if (search.steps[i].ended > HISTORY_TIMES_MAX)
                abort();
            search.must |= 1ull << i;
        }
    search.next = calloc((size_t)(history->count + 1) * MODEL_NEXT_MAX, sizeof *search.next);
    if (!search.next)
        abort();
    model_init(&first, history);
    is_linear = go_on(&search, 0, &first, 0);
    free(search.next);
    free(search.seen);
    return is_linear;
}
