/* SPDX-License-Identifier: MIT */
/*
 * dispatch/shares.h - divides the threads of a dispatcher for blocking work among its parties, so
 * that callbacks of one party that block do not stop the others.
 *
 * A party is a pool of workers, or another actor by itself: see dispatcher_options.party. A
 * dispatcher divides its threads when its budget is 1, or from the first actor on whose callbacks
 * may block. Then each turn belongs to a party:
 *
 * - A party that has turns on half of the threads (rounded up) begins no other one while a party
 *   that has fewer waits. Its actors wait in its *share*; the end of one of its turns queues one of
 *   them again. A thread that finds nothing else to do takes them, too.
 * - When all threads are in long turns and actors wait, the timekeeper adds an *extra* thread. That
 *   one begins only turns of a party that has none. So there are at most as many busy extra threads
 *   as parties.
 *
 * No wake-up is lost: a thread that puts an actor into a share looks for work next, and takes from
 * the shares before it sleeps. If it begins another turn, it wakes a thread. An extra thread takes
 * none of them; it leaves when another thread is free, and wakes one then.
 *
 *                      | begin end take | set_on waits
 *   begin end take     |       X        |      -         X = the owner of `executor`
 *   set_on waits       |       -        |      -         - = any threads at once
 */
#ifndef DISPATCH_SHARES_H
#define DISPATCH_SHARES_H

#include <stdbool.h>

struct dispatcher;
struct executor;
struct schedulable;

/* Divides the threads from now on. Any thread. */
void shares_set_on(struct dispatcher *dispatcher);

/* Before a turn. False: the actor waits in the share of its party, and the caller leaves it alone.
 */
bool shares_begin(struct executor *executor, struct schedulable *schedulable);

/* After a turn for which `executor->share` is set. */
void shares_end(struct executor *executor);

/* Takes an actor that waits in a share, and begins its turn, for a thread that has found nothing
 * else to do. NULL: none waits, or this is an extra thread. */
struct schedulable *shares_take(struct executor *executor);

/* True when an actor waits in a share. seq_cst: see dispatch/idle.h. */
bool shares_any_wait(struct dispatcher *dispatcher);

/* True when this thread may take one of these. */
bool shares_wait_for(const struct executor *executor);

#endif
