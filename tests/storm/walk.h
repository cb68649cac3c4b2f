/*
 * walk.h - looks at every pool of a world that stands still, and finds what must never be.
 *
 * What the ledgers say is compared with what lies in the lanes; the queues with their limits.
 */
#ifndef TESTS_STORM_WALK_H
#define TESTS_STORM_WALK_H

#include "storm/world.h"

#define WALK_ACTORS_MAX 4096

struct walk {
    struct world *world;
    uint64_t steps;
    struct {
        uint64_t step; /* of the last look */
        uint32_t serial;
        uint32_t queued;
    } seen[WALK_ACTORS_MAX]; /* by slot */
};

void walk_init(struct walk *walk, struct world *world);

/* After each step; `at_rest`: no mutex is held by anybody. */
void walk_step(struct walk *walk, bool at_rest);

/* Says of each pool and worker how it stands; for who looks for a mistake. */
void walk_tell(struct walk *walk);

#endif
