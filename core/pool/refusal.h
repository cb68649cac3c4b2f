/*
 * pool/refusal.h - whether a refusal is true of one instant.
 *
 * Who looks for room looks at one worker after the other. A place that comes free behind the look,
 * while the last one before it is taken, would make a FULL that was true at no time: each worker
 * was full when it was looked at, and never all of them. So before FULL is told all of them are
 * looked at twice more, by loads alone. What has left each mailbox only grows: is it the same at
 * both looks, and each was full at the first, then all were full at the instant between them.
 * Otherwise a place has come free, and it is tried again.
 *
 * Those who free places do nothing for it, nor does who finds one. A pool that is known to be full
 * (fullness.h) is so at the instant when that is read.
 */
#ifndef POOL_REFUSAL_H
#define POOL_REFUSAL_H

#include <stdbool.h>

struct message;
struct pool;

/*
 * How often it is tried again before FULL is told all the same. Each time a place came free and
 * went to somebody else meanwhile; or memory is out for a broadcast, which the looks do not see.
 */
#define REFUSAL_TRIES 1000u

/*
 * Whether there was an instant, since the call began, at which the pool had no room for the
 * message. Any thread, in a read section, after the pool has refused it with FULL. False also when
 * the pool closes: then it is not full.
 */
bool refusal_stands(struct pool *pool, const struct message *message);

#endif
