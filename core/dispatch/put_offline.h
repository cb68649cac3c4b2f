/* SPDX-License-Identifier: MIT */
/*
 * dispatch/put_offline.h - puts a thread off-line for reclamation whose callback takes long, and
 * holds it in its callback.
 *
 * A thread that is held may run plugin code, but when it returns to the runtime it waits until it
 * is released. Meanwhile the holder may do what the thread may do with the actor whose callback it
 * is, except for calls into the behaviour, and for what host calls do that do not enter the runtime
 * (actor/callback.h): they use the thread's own memory and a few figures of the actor.
 *
 *              | try .. release | go_online
 *   try ..     |       X        |     -        X = one thread at a time
 *   go_online  |       -        |     X        - = any threads at once
 */
#ifndef DISPATCH_PUT_OFFLINE_H
#define DISPATCH_PUT_OFFLINE_H

#include <stdbool.h>

struct executor;

/*
 * Puts the thread off-line for reclamation if it is in a callback that is not flagged as blocking.
 * When barrier_everywhere (barrier.h) does not work, nothing happens. Not the owner.
 */
void executor_try_put_offline(struct executor *executor);

/*
 * Holds the thread if it is in a callback, which may be flagged as blocking. False: it is not, or
 * barrier_everywhere does not work. Not the owner, and no thread that holds a lock of core; for a
 * short time.
 */
bool executor_try_hold(struct executor *executor);
void executor_release(struct executor *executor);

/* Undoes executor_try_put_offline, once no thread holds this one. Owner. */
void executor_go_online(struct executor *executor);

#endif
