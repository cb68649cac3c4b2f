/* SPDX-License-Identifier: MIT */
/*
 * dispatch/dispatcher.h - a set of threads with run queues, stealing and parking, which runs
 * schedulables.
 *
 * Life: create, start (idempotent), submit..., signal_stop (also inside a turn), join (never inside
 * a turn), destroy. Threads are created here and nowhere else in the core.
 *
 * A turn that takes too long delays other actors only for a moment: the timekeeper hands the queued
 * work of its thread to the others, and starts a spare thread in its place if the program allows it
 * (timekeeper.h). There are never more spares than threads. On a dispatcher for blocking work extra
 * threads serve pools that find none (shares.h).
 *
 * The number of threads can change at run time. Each has an executor, which is never freed, since
 * other threads look into its queues at any time. A thread whose index is not below `thread_count`
 * any more leaves after its turn, and first moves its queued work to the others.
 *
 *                        | start resize join | submit notify arm
 *   start resize join    |        -          |        -          - = any threads at once; the
 *   submit notify arm    |        -          |        -              first group by a lock
 */
#ifndef DISPATCH_DISPATCHER_H
#define DISPATCH_DISPATCHER_H

#include "dispatch/executor.h"
#include "dispatch/layout.h"

/* WEIR_EINVALID, WEIR_ENOMEM. Returns owned in *out. */
int dispatcher_create(const struct dispatcher_options *options, struct dispatcher **out);

/* Starts the threads; a second call does nothing. WEIR_ENOMEM: none runs. */
int dispatcher_start(struct dispatcher *dispatcher);

/*
 * For the timekeeper: so many threads are stuck, and as many spares should work beside them, but no
 * more than there are threads, and none where the budget is 1: callbacks there are meant to block.
 */
void dispatcher_set_stuck(struct dispatcher *dispatcher, uint32_t stuck);

/* For the timekeeper: so many extra threads should work, see shares.h. */
void dispatcher_set_extras(struct dispatcher *dispatcher, uint32_t extras);

/* Count an actor that runs here, and its end. On the thread of `executor`. */
void dispatcher_begin_user(struct dispatcher *dispatcher, struct executor *executor);
void dispatcher_end_user(struct dispatcher *dispatcher, struct executor *executor);

/* Gives an unused dispatcher another name. WEIR_EINVALID. */
int dispatcher_rename(struct dispatcher *dispatcher, const char *name);

/* Reads its name, during a rename and on a thread that may not wait, too. False: another thread is
 * changing it, or the threads. */
bool dispatcher_try_name(struct dispatcher *dispatcher, char name[DISPATCHER_NAME_MAX]);

/* Signals the threads to end after their turns. Any thread, also inside a turn. */
void dispatcher_signal_stop(struct dispatcher *dispatcher);

/* Waits for the threads after signal_stop. WEIR_EDEADLK on one of them. */
int dispatcher_join(struct dispatcher *dispatcher);

/* After join. Drops queued work, which its owner frees. NULL is allowed. */
void dispatcher_destroy(struct dispatcher *dispatcher);

/*
 * Sends a signal with a value to one of its threads; false: that thread does not exist, or another
 * thread is changing the threads. Any thread; never waits.
 */
bool dispatcher_try_signal(struct dispatcher *dispatcher, uint32_t index, int number, void *value);

/* Arms a timer, and ensures that a thread is awake when it is due. Any thread. */
void dispatcher_arm(struct dispatcher *dispatcher, struct timer *timer, uint64_t due_ns);

/* Sums over the threads. */
uint64_t dispatcher_steals(const struct dispatcher *dispatcher);
uint64_t dispatcher_turns(const struct dispatcher *dispatcher);

#endif
