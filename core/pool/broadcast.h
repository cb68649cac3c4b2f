/*
 * pool/broadcast.h - one message to every member of a pool, or to none.
 *
 * A member that is a worker gets it; one that is a pool routes it on as it routes everything, so
 * that below a nested pool it is one message again, or, if that broadcasts too, one for each. First
 * each mailbox that shall have it is held (mailbox.h), in which nobody is let in meanwhile; then
 * all get theirs, or all are released. The locks of the pools on the way are held from the first to
 * the last, parents before children: so it is one step against resizes, opens, figures and other
 * broadcasts (decisions/031).
 *
 * Each worker's message is its own: a payload in line is copied, a blob is shared. Those that a
 * broadcasting pool gave to its worker are MESSAGE_BOUND: they are not handed to siblings.
 */
#ifndef POOL_BROADCAST_H
#define POOL_BROADCAST_H

#include <stdbool.h>

#include "message/message.h"

struct executor;
struct member;
struct pool;

/*
 * Any thread, in a read section, without a pool's lock. Takes the message on 0. WEIR_EFULL: a
 * member has no room, is not open or paused, or there is no memory for the copies; WEIR_ECLOSED;
 * WEIR_EINVALID: a request, which would have many answers, or with an origin, which is told once;
 * or no member of one kind would ever take it. Then nobody has got it.
 */
int broadcast(struct pool *pool, struct executor *executor, struct message *message);

/* True for a member that leaves: it is not asked. */
bool broadcast_passes_over(const struct member *member);

#endif
