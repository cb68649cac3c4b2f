/*
 * dispatch/put_offline.h - puts a thread off-line for reclamation whose callback takes long.
 *
 *             | try | go_online
 *   try       |  X  |     -        X = one thread at a time
 *   go_online |  -  |     X        - = any threads at once
 */
#ifndef DISPATCH_PUT_OFFLINE_H
#define DISPATCH_PUT_OFFLINE_H

struct executor;

/*
 * Puts the thread off-line for reclamation if it is in a callback that is not flagged as blocking.
 * When barrier_everywhere (barrier.h) does not work, nothing happens. One thread, not the owner.
 */
void executor_try_put_offline(struct executor *executor);

/* Undoes executor_try_put_offline. Owner. */
void executor_go_online(struct executor *executor);

#endif
