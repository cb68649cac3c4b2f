/* SPDX-License-Identifier: MIT */
/*
 * walk.h - checks the invariants of every pool of a world that stands still.
 *
 * Compares the ledgers with the contents of the lanes, and the queues with their limits.
 */
#ifndef TESTS_STORM_WALK_H
#define TESTS_STORM_WALK_H

#include "storm/world.h"

#define WALK_ACTORS_MAX 4096

struct walk {
    struct world *world;
    uint64_t steps;
    struct {
        uint64_t step; /* of the last check */
        uint32_t serial;
        uint32_t queued;
    } seen[WALK_ACTORS_MAX]; /* by slot */
};

void walk_init(struct walk *walk, struct world *world);

/* After each step; `at_rest`: no thread holds a mutex. */
void walk_step(struct walk *walk, bool at_rest);

/* Prints the state of each pool and worker, for debugging. */
void walk_print(struct walk *walk);

#endif
