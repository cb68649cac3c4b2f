/* SPDX-License-Identifier: MIT */
/*
 * pool/route.h - routes a message from a pool to a worker, on the sender's thread, through any
 * nesting.
 */
#ifndef POOL_ROUTE_H
#define POOL_ROUTE_H

#include "message/message.h"

struct executor;
struct pool;

/* The next of `count` members, at least 1, in the calling thread's round. */
uint32_t route_next(const struct pool *pool, struct executor *executor, uint32_t count);

/* After a message that was refused by `full` members from the first one of its round on: the round
 * goes on behind the member that took it. So each round passes over a full member once. */
void route_pass_over(const struct pool *pool, struct executor *executor, uint32_t full);

/*
 * Puts a message into one worker's normal lane, or copies into those of many: see broadcast.h. Any
 * thread, in a read section. Takes it on 0; WEIR_EFULL no worker below has room; WEIR_ECLOSED the
 * pool is ending; WEIR_EINVALID no worker below could ever take it: the pool routes by hash and the
 * message has no key, the payload is larger than a worker's limit of bytes, or a request was sent
 * to a broadcast pool.
 */
int route_message(struct pool *pool, struct executor *executor, struct message *message);

/* As route_message; `left` as for send_leaving in actor/send.h. */
int route_leaving(struct pool *pool, struct executor *executor, struct message *message,
                  struct message_list *left);

/* As route_message, for a TAKE: without room, waiting takers that have given up leave theirs. */
int route_take(struct pool *pool, struct executor *executor, struct message *take);

/* Leases a free member to the program, without a TAKE and without a turn: lending.h. False: it has
 * to send a TAKE. */
bool route_lend(struct pool *pool, struct executor *executor, struct weir_lease *out);

/* As route_leaving, without counting a refusal for this pool. */
int route_uncounted(struct pool *pool, struct executor *executor, struct message *message,
                    struct message_list *left);

/* The number of messages that the workers below would take now: a hint. Unlimited mailboxes count
 * as 64. */
uint32_t route_room(struct pool *pool);

/* As route_room, for a pool whose only member is a worker with a mailbox of its own; 0 for other
 * pools. Any thread, in a read section. */
uint32_t route_room_of_only_worker(struct pool *pool);

#endif
