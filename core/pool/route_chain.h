/* SPDX-License-Identifier: MIT */
/*
 * pool/route_chain.h - puts a chain of messages to one worker in one step.
 */
#ifndef POOL_ROUTE_CHAIN_H
#define POOL_ROUTE_CHAIN_H

#include "message/message.h"

struct executor;
struct pool;

/*
 * Puts as much of a chain as there is room for into one worker's normal lane, in one step; a route
 * that looks at each message (all but round-robin) gets them one by one, until one is refused.
 * Returns how many it took, from the front, or a status as route_message. Any thread, in a read
 * section.
 */
int route_chain(struct pool *pool, struct executor *executor, struct message *const *messages,
                uint32_t count);

#endif
