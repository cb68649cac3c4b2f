/*
 * actor/send_wait.h - a thread from outside that waits until its message finds room.
 *
 * It waits in line with the workers whose outputs lead there (waiters.h), first come first served,
 * asleep on a futex of its own. What ends the wait: a freed place, a pool that grew, a worker that
 * opened, the end of the target, the time-out.
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
