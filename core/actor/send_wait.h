/* SPDX-License-Identifier: MIT */
/*
 * actor/send_wait.h - lets an outside thread wait until its message finds room.
 *
 * It stands in the same wait queue as the workers whose outputs lead there (wait_queue.h), and
 * sleeps on a futex of its own. A free place, growth of the pool, the open of a worker, the end of
 * the target, or the time-out ends the wait.
 */
#ifndef ACTOR_SEND_WAIT_H
#define ACTOR_SEND_WAIT_H

#include "actor/actor.h"

/*
 * Sends a message in the normal lane; waits up to `timeout_ms` of real time while there is no
 * room. Takes it on 0. WEIR_ETIMEOUT; WEIR_EDEADLK on a thread of the runtime's dispatchers;
 * otherwise as weir_send. Not in a read section.
 */
int send_wait(struct runtime *runtime, weir_pid to, struct message *message, uint64_t timeout_ms);

#endif
