/* SPDX-License-Identifier: MIT */
/*
 * stage.h - a dispatcher of two threads, with a clock that only the test moves, and jobs that say
 * which thread ran them. There is no timekeeper.
 *
 * Its threads do not run unless the test starts the dispatcher: the test takes their steps.
 */
#ifndef TESTS_UNIT_DISPATCH_STAGE_H
#define TESTS_UNIT_DISPATCH_STAGE_H

#include "dispatch/dispatcher.h"
#include "dispatch/layout.h"
#include "dispatch/schedulable.h"
#include "unit/support/gate.h"

#define STAGE_JOBS 16u

struct stage;

struct job {
    struct schedulable schedulable; /* first */
    struct stage *stage;
    enum turn (*act)(struct job *job, struct executor *executor); /* at first: does nothing */
    _Atomic uint32_t runs;
    _Atomic uint32_t ran_on; /* the index of its last thread */
};

struct stage {
    struct reclaim reclaim;
    struct dispatcher *dispatcher;
    struct executor outside;
    _Atomic uint64_t now_ns;
    struct job jobs[STAGE_JOBS];
    uint32_t first, last; /* of the jobs that stage_scatter queues */
    uint32_t read_ns;     /* each reading of the clock takes so long */
    struct gate gate;

    /* for the jobs of the test */
    uint32_t turn_ns;
    uint32_t messages;
    _Atomic bool has_room;
};

/* Both threads are pressed. */
void stage_begin(struct stage *stage);
void stage_finish(struct stage *stage);

/* Neither thread is pressed or exempt any more. */
void stage_relieve(struct stage *stage);

void stage_advance(struct stage *stage, uint64_t ns);

/* Submits a job from outside. */
void stage_submit(struct stage *stage, uint32_t index);

/* One step of a thread; false: it found no work. */
bool stage_step(struct stage *stage, uint32_t thread);

/* The act of a job: queues the jobs from `first` to `last`, and the last one of them in the slot of
 * the actor that runs next, from which no thread steals. */
enum turn stage_scatter(struct job *job, struct executor *executor);

/* Has the first thread queue `count` jobs in its ring, the first of them `first`, and one more in
 * that slot. Uses job 0. */
void stage_queue(struct stage *stage, uint32_t first, uint32_t count);

#endif
