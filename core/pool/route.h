/*
 * pool/route.h - from a pool to a worker, on the sender's thread, in one step through any nesting.
 */
#ifndef POOL_ROUTE_H
#define POOL_ROUTE_H

#include "message/message.h"

struct executor;
struct pool;

/*
 * Puts a message into one worker's normal lane. Any thread, in a read section. Takes it on 0;
 * WEIR_EFULL no worker below has room; WEIR_ECLOSED the pool is ending; WEIR_EINVALID no
 * worker below would ever take it: it routes by hash and the message has no key, or the payload is
 * larger than all that may wait at a worker.
 */
int route_message(struct pool *pool, struct executor *executor, struct message *message);

/* How many messages the workers below would take now: a hint. Unlimited mailboxes count as 64. */
uint32_t route_room(struct pool *pool);

/* The same of a pool whose only member is a worker with a mailbox of its own; 0: of another. Any
 * thread, in a read section. */
uint32_t route_room_of_only_worker(struct pool *pool);

#endif
