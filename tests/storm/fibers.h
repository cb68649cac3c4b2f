/*
 * fibers.h - threads that are none: bodies with stacks of their own on one thread, one at a time.
 *
 * Which of them goes on is drawn from a seed, so the same seed gives the same order. A fiber goes
 * on until it yields, rests or ends; and, now and then, until it takes a mutex or gives it back: a
 * program that is linked with weir_test_fibers is preempted there. One that is linked with
 * weir_core_stepped is so at the core's atomic operations, too: see stepped.c. A fiber that finds a
 * mutex taken waits for it; when all wait for one another, that is told and the program ends.
 *
 * Only one set of fibers at a time, since a mutex does not know who asks. Outside of the fibers, no
 * mutex may be taken that a fiber holds: see fibers_hold_locks.
 */
#ifndef TESTS_STORM_FIBERS_H
#define TESTS_STORM_FIBERS_H

#include <stdbool.h>
#include <stdint.h>

#define FIBERS_MAX 32

struct fibers;

typedef void fiber_body(void *context);

/* One in `preempt_one_in` mutexes lets others go first; 0: none. Owned by the caller. Ends the
 * program without memory. */
struct fibers *fibers_create(uint64_t seed, uint32_t preempt_one_in);
/* Others may also go first about every `steps_between` atomic operations; 0: never. */
void fibers_preempt_steps(struct fibers *fibers, uint32_t steps_between);
/* Fibers that have not ended are forgotten. NULL is allowed. */
void fibers_destroy(struct fibers *fibers);

/* Before the first step, or in a fiber. It is drawn `weight` times as often as one of weight 1. */
void fibers_add(struct fibers *fibers, fiber_body *body, void *context, uint32_t weight);

/* Draws a fiber and lets it go on. False: all have ended or rest. */
bool fibers_step(struct fibers *fibers);

/* Those that rest look again: something has happened, outside of the fibers or inside. */
void fibers_rouse(struct fibers *fibers);

/* How often fibers_yield was called: it stands still when nothing happens any more. */
uint64_t fibers_yields(const struct fibers *fibers);

/* How many have not ended. */
uint32_t fibers_left(const struct fibers *fibers);

/* True while a fiber that was preempted holds a mutex. */
bool fibers_hold_locks(const struct fibers *fibers);

/* A hash of all that was drawn so far, and of what was noted by fibers_note. */
uint64_t fibers_trace(const struct fibers *fibers);
void fibers_note(struct fibers *fibers, uint64_t what);

/* A number from the seed, below `bound`. */
uint32_t fibers_draw(struct fibers *fibers, uint32_t bound);

/* --- in a fiber; elsewhere they do nothing --------------------------------------------------- */

/* It has done something: those that rest look again, and others may go first. */
void fibers_yield(void);
/* Lets others go first, now and then. */
void fibers_may_yield(void);
/* Before an atomic operation: as fibers_preempt_steps asked for. */
void fibers_may_yield_at_step(void);
/* It found nothing to do: it goes on when it is roused. */
void fibers_rest(void);

#endif
