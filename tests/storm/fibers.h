/* SPDX-License-Identifier: MIT */
/*
 * fibers.h - cooperative threads: functions with stacks of their own on one thread, one at a time.
 *
 * A seed decides which one runs next, so the same seed gives the same order. A fiber runs until it
 * yields, rests or ends; and, now and then, until it takes or releases a mutex: a program linked
 * with weir_test_fibers is preempted there. One linked with weir_core_stepped is preempted at the
 * core's atomic operations, too: see stepped.c. A fiber that finds a mutex taken waits for it; a
 * deadlock is reported and ends the program.
 *
 * Only one set of fibers at a time, since a mutex has no context. Outside of the fibers, no mutex
 * may be taken that a fiber holds: see fibers_hold_locks.
 */
#ifndef TESTS_STORM_FIBERS_H
#define TESTS_STORM_FIBERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define FIBERS_MAX 64

struct fibers;

typedef void fiber_body(void *context);

/* One in `preempt_one_in` mutexes lets other fibers run first; 0: none. Owned by the caller. Ends
 * the program when memory is out. */
struct fibers *fibers_create(uint64_t seed, uint32_t preempt_one_in);
/* Other fibers also run first at about every `steps_between`th atomic operation; 0: never. */
void fibers_preempt_steps(struct fibers *fibers, uint32_t steps_between);
/* Forgets fibers that have not ended. NULL is allowed. */
void fibers_destroy(struct fibers *fibers);

/* Before the first step, or in a fiber. It is chosen `weight` times as often as one of weight 1.
 * Returns its number. */
uint32_t fibers_add(struct fibers *fibers, fiber_body *body, void *context, uint32_t weight);

/* Chooses a fiber and runs it. False: all have ended or rest. */
bool fibers_step(struct fibers *fibers);

/* Wakes the resting fibers: there was an event, outside of the fibers or inside. */
void fibers_rouse(struct fibers *fibers);

/* The number of calls of fibers_yield: it is constant when nothing happens any more. */
uint64_t fibers_yields(const struct fibers *fibers);

/* Steps until no fiber can go on. One may have rested after the event that it waits for, so all
 * look once more. False: after `steps_max` steps they still go on. */
bool fibers_come_to_rest(struct fibers *fibers, uint32_t steps_max);

/* The number of fibers that have not ended. */
uint32_t fibers_left(const struct fibers *fibers);

/* True while a fiber that was preempted holds a mutex. */
bool fibers_hold_locks(const struct fibers *fibers);

/* A hash of all choices so far, and of the notes of fibers_note. */
uint64_t fibers_trace(const struct fibers *fibers);
void fibers_note(struct fibers *fibers, uint64_t what);

/* A number from the seed, below `bound`. */
uint32_t fibers_draw(struct fibers *fibers, uint32_t bound);

/* --- running, with a clock: for programs whose fibers sleep, fiber_threads.h ------------------ */

/* Runs the fibers until all have ended. The clock moves by less than `step_ns` at each step, and to
 * the next deadline when none can go on. False: none can go on and there is no deadline, or they
 * still go on after `steps_max` steps. */
bool fibers_run(struct fibers *fibers, uint64_t steps_max);
void fibers_set_step_ns(struct fibers *fibers, uint64_t step_ns);
/* The states of those that have not ended. */
void fibers_print(const struct fibers *fibers);

/* In a fiber. Sleeps until a wake-up of `word`, or until the deadline; false: the deadline. Unlike
 * a fiber that rests, one that sleeps shows a lost wake-up. */
bool fibers_sleep(const void *word, uint64_t until_ns);
/* Wakes at most `count` fibers that sleep on `word`. */
void fibers_wake(const void *word, uint32_t count);
/* In a fiber: adds another one, or waits until one has ended, whose number is free then. */
uint32_t fibers_add_here(fiber_body *body, void *context);
void fibers_join(uint32_t number);
/* In a fiber: releases a mutex, and lets no other fiber run. */
void fibers_unlock(pthread_mutex_t *mutex);
/* The time of fibers_run. */
uint64_t fibers_now_ns(void);
/* False outside of the fibers. */
bool fibers_in_one(uint32_t *out_number);

/* --- in a fiber; elsewhere they do nothing --------------------------------------------------- */

/* There was an event: wakes the resting fibers, and may let others run first. */
void fibers_yield(void);
/* Lets others run first, now and then. */
void fibers_may_yield(void);
/* Before an atomic operation: preempts as set by fibers_preempt_steps. */
void fibers_may_yield_at_step(void);
/* Nothing to do: rests until it is woken. */
void fibers_rest(void);

#endif
