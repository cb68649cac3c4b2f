/* SPDX-License-Identifier: MIT */
/*
 * pool/pulling.h - the common queue of a pool with route pull: free members take from it.
 *
 * Senders append, up to size x mailbox; an open member whose mailbox is empty takes the first
 * message. A member that finds the queue empty is noted as idle, under the same lock, and sleeps;
 * the next sender wakes it, so no wake-up is lost. It is noted only while it sleeps: its next turn
 * begins by removing the note. At the end of a turn, or before it becomes busy otherwise, a member
 * wakes a sleeping one if messages wait: so a wake-up that its receiver cannot use is passed on.
 *
 * A lock, since every operation concerns the one queue (decisions/017); it is held for a few
 * stores, without calls. Leaving members take no more messages, unless the pool closes or gets
 * pools as members: then they finish the queue. Rank: below pool->lock.
 */
#ifndef POOL_PULLING_H
#define POOL_PULLING_H

#include "pool/pool.h"

/* `depth`: of its pool. */
void pulling_init(struct pull_queue *pull, uint32_t depth);
/* Frees the messages that are left. `executor` may be NULL when it is empty. */
void pulling_finish(struct pull_queue *pull, struct executor *executor);

#define PULLING_NO_MORE 1 /* the pool has another route now */

/* Takes the message on 0. WEIR_EFULL, WEIR_ECLOSED, WEIR_EINVALID: larger than one worker's bytes;
 * PULLING_NO_MORE. Any thread, in a read section. */
int pulling_push(struct pool *pool, struct executor *executor, struct message *message);

/* Puts a message back in front that a member took and cannot serve. Takes it. In the member's
 * turn. */
void pulling_put_back(struct place *place, struct message *message, struct executor *executor);

/* Parts of these, for a group of pools: pool->pull.lock is held. */
void pulling_append_locked(struct pool *pool, struct executor *executor, struct message *message);
void pulling_prepend_locked(struct pool *pool, struct message *message);

/* Settles a message of the queue that no member took, after it was counted. Takes it. Without the
 * lock. */
void pulling_end_message(struct pool *pool, struct executor *executor, struct message *message,
                         enum dead_reason reason, int status);

/* Wakes a member that sleeps, for a message in the queue `caller`, whose lock is held. False: none
 * sleeps. */
bool pulling_wake_for(struct pool *pool, struct pull_queue *caller, struct executor *executor);

/* The number of messages that the queue has room for. Any thread. */
uint64_t pulling_room(struct pool *pool);

/* The limit of one message's payload; UINT64_MAX = unlimited. Any thread. */
uint64_t pulling_bytes_limit(struct pool *pool);

/* pool->lock is held, after a change of target or limit, or when the pool closes. */
void pulling_set_bounds_locked(struct pool *pool);

/* No member is leased from now on. pool->lock is held. */
void pulling_end_leases_locked(struct pool *pool);

/* No message is admitted any more. pool->lock is held; FLAGS_CLOSING is set only after this call:
 * so a thread that sees it and then an empty queue knows that the queue stays empty. */
void pulling_close_locked(struct pool *pool);

/* The members take from the queue from now on, since the route is pull. pool->lock is held. */
void pulling_begin_locked(struct pool *pool, struct executor *executor);

/* `left_behind`: the leaving workers are the last ones, so they finish the queue; the bounds admit
 * no more messages before this call. False: new members take over. pool->lock is held. */
void pulling_leave_behind(struct pool *pool, bool left_behind);
/* Called after the last leaving worker has ended, or when there was none: makes the remaining
 * messages dead `removed`. Any thread. */
void pulling_end_if_left(struct pool *pool, struct executor *executor);

/* Called when the pool closes, and its last member has ended or timed out: makes the remaining
 * messages dead `removed`. */
void pulling_discard(struct pool *pool, struct executor *executor);

/* --- a pool whose workers have all stopped --------------------------------------------------- */

/* A worker has stopped, opens again, or the workers are others: the pool refuses messages while all
 * have stopped, and it does not grow by itself. pool->lock is held. */
void pulling_set_stopped_locked(struct pool *pool);

/* Whether the pool grows by itself for what waits. */
static inline bool pulling_grows(const struct pool *pool)
{
    return pool_senses(pool) && atomic_load_explicit(&pool->pull.growth, memory_order_relaxed) > 0;
}

static inline bool pulling_has_stopped(const struct pool *pool)
{
    /* Relaxed: a sender that reads an older value is admitted before the queue is emptied, or asks
     * once more under the lock. */
    return atomic_load_explicit(&pool->pull.stopped, memory_order_relaxed) && !pulling_grows(pool);
}

/* False: the workers have all stopped, or the pool has the size 0, and it does not grow by itself.
 * Of a pool without pools. */
static inline bool pulling_has_workers(const struct pool *pool)
{
    return pulling_grows(pool) ||
           !(atomic_load_explicit(&pool->pull.stopped, memory_order_relaxed) ||
             atomic_load_explicit(&pool->pull.empty, memory_order_relaxed));
}

/* Makes the messages of a pool dead `stopped` whose workers have all stopped. Without the lock. */
void pulling_discard_stopped(struct pool *pool, struct executor *executor);

/* The number of messages admitted so far; the queue is frozen. */
uint64_t pulling_admitted_frozen(const struct pool *pool);

/* Freezes the queue while the ledgers of the members are read. pool->lock is held. */
uint32_t pulling_freeze_locked(struct pool *pool);
void pulling_thaw_locked(struct pool *pool);

/* --- the members' turns ---------------------------------------------------------------------- */

/* Takes the first message; NULL: there is none, and the member is noted as idle. */
struct message *pulling_take(struct actor *actor);

/* The turn of a member that was noted as idle begins, or it is between two incarnations: removes
 * the notes that it sleeps, or was woken. */
void pulling_awake(struct place *place);

/* The place is late to open: the taker that it opens for counts as one without a worker again. */
void pulling_give_up_opening(struct place *place);

/* True when the actor must finish the queue before it can leave. */
bool pulling_keeps(struct place *place);

/* Wakes a sleeping member if messages wait. Any thread, in a read section. */
void pulling_pass_on(struct pool *pool, struct executor *executor);

/* A member for which messages may wait has ended or failed. As pulling_pass_on; when no member
 * sleeps, a pool that scales itself checks whether it must grow. */
void pulling_missed(struct pool *pool, struct executor *executor);

#endif
