/* SPDX-License-Identifier: MIT */
/*
 * dispatch/timekeeper.h - one thread that watches the time for all dispatchers of a runtime.
 *
 * While any thread of a dispatcher is awake, the timekeeper does this once a millisecond (a
 * *beat*):
 *  - it fires the timers that are due, and makes the threads, by `dispatcher->beat`, check timers
 *    and the global queue before their next turn: a busy thread reads no clock for that;
 *  - it hands the run queue of a thread that is in the same turn as at the last beat to the others,
 *    and wakes one of them when something has waited in a queue since the last beat;
 *  - for each such turn it calls `long_turn`, which may act in the place of the running actor;
 *  - a turn that has lasted for HOLD_BEATS no longer holds up the reclamation of memory, as long as
 *    its callback makes no call into the host (see executor.h, *Where a thread is*);
 *  - a turn that has lasted for `spare_after_ms` makes its thread *stuck*: a spare thread takes the
 *    place, until the turn ends. Callbacks that are flagged as blocking are never stuck;
 *  - it finds dispatchers that are *crowded*: others have as many threads in a turn as there are
 *    CPUs. A thread of a crowded one that finds no work sleeps at once, since to search for it, as
 *    it does otherwise for some 30 us, would take the CPU from those threads.
 * When all threads sleep, the timekeeper sleeps until the next deadline, or until a thread wakes.
 *
 * Life: create, set_long_turn, watch .. , start, stop, destroy. The dispatchers stay until after
 * stop.
 *
 *                       | start stop | watch | set look
 *   start stop          |     X      |   X   |    -          X = one thread at a time
 *   watch               |     X      |   X   |    -          - = any threads at once
 *   set look            |     -      |   -   |    -
 */
#ifndef DISPATCH_TIMEKEEPER_H
#define DISPATCH_TIMEKEEPER_H

#include "dispatch/executor.h"

#define TIMEKEEPER_DISPATCHERS_MAX 128

struct dispatcher;
struct doze;
struct timekeeper;

/* Its thread is not started yet. `runtime` and `reclaim` as for an executor. WEIR_ENOMEM. Returns
 * owned in *out. */
int timekeeper_create(void *runtime, struct reclaim *reclaim, struct clock clock,
                      struct timekeeper **out);

/* Watches `dispatcher` from now on. WEIR_ENOMEM, also past TIMEKEEPER_DISPATCHERS_MAX. */
int timekeeper_watch(struct timekeeper *timekeeper, struct dispatcher *dispatcher);

/* Called at each beat that finds the thread `slow` in the same turn as the last beat did, on the
 * timekeeper's thread, whose executor is `by` and off-line for reclamation. */
typedef void timekeeper_long_turn(struct executor *slow, struct executor *by);

void timekeeper_set_long_turn(struct timekeeper *timekeeper, timekeeper_long_turn *long_turn);

/* Starts the thread; a second call does nothing. WEIR_ENOMEM. */
int timekeeper_start(struct timekeeper *timekeeper);

/* Ends the thread and waits for it; before the dispatchers are stopped. No timer fires any more. */
void timekeeper_stop(struct timekeeper *timekeeper);

/* After stop, and before the reclaim ends. NULL is allowed. */
void timekeeper_destroy(struct timekeeper *timekeeper);

/* A turn that lasts so long gets a spare thread; 0, the default: none does. */
void timekeeper_set_spare_after(struct timekeeper *timekeeper, uint32_t ms);

/* For the options of its dispatchers, which wake it (doze.h). Borrowed until destroy. */
struct doze *timekeeper_doze(struct timekeeper *timekeeper);

/* The timekeeper reads the clock now: for a clock that a test moves. */
void timekeeper_look(struct timekeeper *timekeeper);

#endif
