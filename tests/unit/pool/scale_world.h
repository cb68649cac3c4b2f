/* SPDX-License-Identifier: MIT */
/*
 * scale_world.h - an elastic pool in a simulation: the law of core/pool/scale_law.h, a fake clock,
 * and workers and messages that are numbers.
 *
 * Messages wait in one queue. An idle worker with the lowest number takes the first one, and has
 * it in hand for `service_ms`. A worker opens for `open_ms`. The law is asked in each step of 5 ms.
 */
#ifndef TESTS_UNIT_POOL_SCALE_WORLD_H
#define TESTS_UNIT_POOL_SCALE_WORLD_H

#include <stdint.h>

#include "pool/scale_law.h"

#define SCALE_WORLD_WORKERS 64u
#define SCALE_WORLD_QUEUE 65536u
#define SCALE_WORLD_SECONDS 300u

/* Messages that arrive in the second that begins at `second`, or at its beginning. */
struct scale_load {
    const char *name;
    uint32_t (*rate)(uint32_t second);  /* spread over the second */
    uint32_t (*burst)(uint32_t second); /* all at once, at its beginning; NULL: none */
};

struct scale_world {
    struct scale_law law; /* set by the test */
    uint32_t service_ms;  /* set by the test */
    uint32_t open_ms;     /* set by the test; UINT32_MAX: the backend is down */
    uint32_t up_ms;       /* set by the test: with a backend that is down, when it is up again */
    uint32_t target_at_start; /* set by the test */

    uint64_t handled;
    uint64_t longest_ms; /* the longest that a message has waited */
    uint32_t largest;    /* target */
    uint32_t reversals;  /* growths after a shrink */
    uint32_t growths, leavers;
    uint32_t targets[SCALE_WORLD_SECONDS];  /* at the end of each second */
    uint32_t rates[SCALE_WORLD_SECONDS];    /* messages of each second */
    uint32_t waits_ms[SCALE_WORLD_SECONDS]; /* the longest wait of a message begun in each second */
    uint32_t reached_ms[SCALE_WORLD_WORKERS + 1]; /* when the target was first that; 0 = never */
};

/* The loads that the guide shows; ends with a name of NULL. */
extern const struct scale_load scale_loads[];

/* Simulates SCALE_WORLD_SECONDS from an idle pool on. */
void scale_world_run(struct scale_world *world, const struct scale_load *load);

#endif
