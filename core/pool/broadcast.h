/* SPDX-License-Identifier: MIT */
/*
 * pool/broadcast.h - a message to every member of a pool: a copy to each that has room.
 *
 * A worker gets its copy; a nested pool routes its copy as any other message. So below a nested
 * pool there is one copy, or, if that pool broadcasts too, one for each member. actor/fan_out.h
 * handles a copy without room. No lock is taken: a member that joins or leaves during the send may
 * get a copy or not.
 */
#ifndef POOL_BROADCAST_H
#define POOL_BROADCAST_H

#include "message/message.h"

struct executor;
struct fan_out;
struct member;
struct pool;

/* How a nested pool routes its copy: route_uncounted. */
typedef int broadcast_route(struct pool *pool, struct executor *executor, struct message *message,
                            struct message_list *left);

/*
 * Any thread, in a read section. Takes the message on 0: at least one member has taken a copy; the
 * others are in `left`, or counted as refused by the pool. WEIR_EFULL: no member has room;
 * WEIR_EINVALID: a request, which would have many answers, or a message with an origin, which gets
 * one outcome; or no member of any kind could ever take it.
 */
int broadcast(struct pool *pool, struct executor *executor, struct message *message,
              struct message_list *left, broadcast_route *route);

/* An event: gives a copy to each worker below, of all levels. A pool that accepts nothing counts
 * once. Any thread, in a read section. */
void broadcast_below(struct pool *pool, struct fan_out *fan_out);

/* As worker_in in actor/router.h. */
int broadcast_worker_in(struct pool *pool, uint32_t seat, weir_pid *out_pid);

/* True for a member that leaves: broadcasts skip it. */
bool broadcast_passes_over(const struct member *member);

#endif
