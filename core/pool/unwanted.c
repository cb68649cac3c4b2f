#include "pool/unwanted.h"

#include "actor/request.h"
#include "actor/wanted.h"
#include "pool/pool.h"
#include "pool/pull_queue.h"
#include "pool/pulling.h"

/* Takes messages out of the queue: all takers, or all that are not wanted any more. */
static struct message_list take_out_locked(struct pool *pool, struct executor *executor,
                                           bool all_takers)
{
    struct pull_queue *pull = &pool->pull;
    struct message_list out = { 0 };
    struct message_list stay = { 0 };
    struct message *message;

    pull->wanted_due_ns = TIMER_NEVER;
    pull->changes = wanted_changes(pool->runtime); /* read before the messages are asked */
    while ((message = message_list_take(&pull->messages))) {
        bool is_taker = message->public.reserved & MESSAGE_TAKE;
        bool goes = all_takers ? is_taker : wanted_status_of(pool->runtime, executor, message) != 0;

        if (goes)
            pull_count_locked(pull, message, false);
        else
            pull_note_due_locked(pull, message);
        message_list_append(goes ? &out : &stay, message);
    }
    pull->messages = stay;
    pull_set_waiting_locked(pool);
    return out;
}

/* Settles messages that were taken out. `otherwise`: the status of takers that are still wanted. */
static void settle_out(struct pool *pool, struct executor *executor, struct message_list *out,
                       int otherwise)
{
    struct message *message;

    while ((message = message_list_take(out))) {
        int status = wanted_status_of(pool->runtime, executor, message);
        enum dead_reason reason = status == WEIR_ETIMEOUT      ? DEAD_EXPIRED
                                  : status                     ? DEAD_CANCELLED
                                  : otherwise == WEIR_ECRASHED ? DEAD_STOPPED
                                                               : DEAD_REMOVED;

        lock_acquire(&pool->lock);
        pulling_count_left_locked(pool, message);
        lock_release(&pool->lock);
        pulling_end_message(pool, executor, message, reason, status ? status : otherwise);
    }
}

/* False: no message has become unwanted since the last scan, as far as this thread can know. */
static bool may_be_unwanted_locked(const struct pool *pool, struct executor *executor)
{
    return pool->pull.spoils && (pool->pull.changes != wanted_changes(pool->runtime) ||
                                 pool->pull.wanted_due_ns <= executor_time(executor));
}

void unwanted_drop(struct pool *pool, struct executor *executor)
{
    struct message_list out = { 0 };
    uint32_t count;

    lock_acquire(&pool->pull.lock);
    if (may_be_unwanted_locked(pool, executor))
        out = take_out_locked(pool, executor, false);
    lock_release(&pool->pull.lock);
    count = out.count;
    if (count == 0)
        return;
    settle_out(pool, executor, &out, WEIR_ECANCELLED);
    pool->owner.ops->credit(&pool->owner, 0, count, executor);
}

uint64_t unwanted_beat(struct pool *pool)
{
    struct pull_queue *pull = &pool->pull;
    bool beats;

    lock_acquire(&pull->lock);
    if (pull->messages.count == 0)
        pull->spoils = false;
    /* [P1] pairs with members_publish. Without members the queue waits for growth, which looks. */
    beats = pull->beats = pull->spoils &&
                          atomic_load_explicit(&pool->members, memory_order_acquire)->count > 0;
    lock_release(&pull->lock);
    return beats ? WANTED_BEAT_NS : TIMER_NEVER;
}

void unwanted_refuse_takers(struct pool *pool, struct executor *executor, int status)
{
    struct message_list takers;

    lock_acquire(&pool->pull.lock);
    takers = take_out_locked(pool, executor, true);
    lock_release(&pool->pull.lock);
    settle_out(pool, executor, &takers, status);
}
