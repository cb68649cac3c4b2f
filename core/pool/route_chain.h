/*
 * pool/route_chain.h - a chain of messages to one worker, by one step.
 */
#ifndef POOL_ROUTE_CHAIN_H
#define POOL_ROUTE_CHAIN_H

#include "message/message.h"

struct executor;
struct pool;

/*
 * Puts a chain into one worker's normal lane, what there is room for, in one step; where the route
 * looks at each message (all but round_robin) it puts one after the other, until one is refused.
 * Answers how many it took, from the front, or as route_message. Any thread, in a read section.
 */
int route_chain(struct pool *pool, struct executor *executor, struct message *const *messages,
                uint32_t count);

#endif
