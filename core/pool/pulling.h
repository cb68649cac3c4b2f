/*
 * pool/pulling.h - the queue of a pool that routes by pull: one for all, members take when free.
 *
 * Senders append, up to size x mailbox; an open member that has nothing else takes the first. A
 * member that finds the queue empty is noted as idle, under the same lock, and sleeps: whoever
 * appends next wakes it, so no wake-up is lost. It is noted only while it sleeps: a turn begins by
 * taking the note back. Whoever ends a turn, or is about to be busy with something else, while
 * messages wait and others sleep, wakes one of those: so a wake-up that found its member unable is
 * passed on.
 *
 * A lock, since every operation is about the one queue that all share (decisions/017); it is held
 * for a few stores, and nothing is called meanwhile. Members that are to leave take nothing more,
 * unless the pool closes or gets pools as members: then they finish the queue. Rank: below
 * pool->lock.
 */
#ifndef POOL_PULLING_H
#define POOL_PULLING_H

#include <pthread.h>

#include "base/list.h"
#include "message/message.h"

struct actor;
struct executor;
struct place;
struct pool;

struct pull_queue {
    pthread_mutex_t lock;
    struct message_list messages; /* lock */
    uint64_t admitted;            /* lock: messages, so far */
    uint64_t limit;               /* lock: of messages */
    uint64_t bytes;               /* lock: of payload in them */
    uint64_t bytes_limit;         /* lock: of these */
    uint64_t bytes_limit_each;    /* lock: of one message */
    bool closed;                  /* lock: the pool closes, nothing is let in */
    _Atomic bool left_behind;     /* written under pool->lock: no member stays to take them */
    struct list idle;             /* lock: places whose workers sleep for want of messages */
    _Atomic uint32_t sleeping;    /* written under lock: places in `idle` */
};

void pulling_init(struct pull_queue *pull);
/* Frees what is left in it. `executor` may be NULL when it is empty. */
void pulling_finish(struct pull_queue *pull, struct executor *executor);

#define PULLING_NO_MORE 1 /* the pool has another route now */

/* Takes the message on 0. WEIR_EFULL, WEIR_ECLOSED, WEIR_EINVALID: larger than one worker's bytes;
 * PULLING_NO_MORE. Any thread, in a read section. */
int pulling_push(struct pool *pool, struct executor *executor, struct message *message);

/* How many more it takes now. Any thread. */
uint64_t pulling_room(struct pool *pool);

/* Of the payload of one message; UINT64_MAX = unlimited. Any thread. */
uint64_t pulling_bytes_limit(struct pool *pool);

/* pool->lock is held, after a change of target, limit or `closing`. */
void pulling_set_bounds_locked(struct pool *pool);

/* Nothing is let in any more. pool->lock is held, and the pool is not said to close before that:
 * who sees that it closes, and the queue empty, may rely on it. */
void pulling_close_locked(struct pool *pool);

/* The members shall look at the queue, since the route is pull from now on. pool->lock is held. */
void pulling_begin_locked(struct pool *pool, struct executor *executor);

/* The workers that leave are the last, or new ones have come after them. pool->lock is held; the
 * bounds let nothing more in before the first of that. */
void pulling_leave_behind(struct pool *pool, bool left_behind);
/* The last of those has ended, or there was none: what is left is dead `removed`. Any thread. */
void pulling_end_if_left(struct pool *pool, struct executor *executor);

/* The pool closes, and its last member has ended or its time is over: what is left is dead
 * `removed`. */
void pulling_discard(struct pool *pool, struct executor *executor);

/* Messages that it has admitted so far; it is frozen. */
uint64_t pulling_admitted_frozen(const struct pool *pool);

/* Holds the queue still while the ledgers of the members are read. pool->lock is held. */
uint32_t pulling_freeze_locked(struct pool *pool);
void pulling_thaw_locked(struct pool *pool);

/* --- the members' turns ---------------------------------------------------------------------- */

/* The first message, in hand; NULL: there is none, and the member is noted as idle. */
struct message *pulling_take(struct actor *actor);

/* A turn begins of a member that is noted as idle: it does not sleep. */
void pulling_awake(struct place *place);

/* True when the actor would have to finish the queue before it can leave. */
bool pulling_keeps(struct place *place);

/* Wakes a member for what waits, if both are there. Any thread, in a read section. */
void pulling_pass_on(struct pool *pool, struct executor *executor);

#endif
