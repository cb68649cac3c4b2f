/* SPDX-License-Identifier: MIT */
#include "pool/unwanted.h"

#include "actor/credit.h"
#include "actor/request.h"
#include "actor/settle.h"
#include "actor/unpack.h"
#include "actor/wanted.h"
#include "pool/pool.h"
#include "pool/pull_queue.h"
#include "pool/pulling.h"

#define TAKEN_MAX 512u /* messages at a time: the callback that ends meanwhile waits */
#define LOOKS_MAX 4096u

/* Takes messages out of the queue: all takers, or all that are not wanted any more. The lock of the
 * pool is held, too: a reader of figures finds each in the queue or among what has left. */
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

        if (goes) {
            pull_count_locked(pull, message, false);
            pull_count_left_locked(pool, message);
        } else {
            pull_note_due_locked(pull, message);
        }
        message_list_append(goes ? &out : &stay, message);
    }
    pull->messages = stay;
    pull_set_waiting_locked(pool);
    return out;
}

static struct message_list take_out(struct pool *pool, struct executor *executor, bool all_takers)
{
    struct message_list out;

    lock_acquire(&pool->lock);
    lock_acquire(&pool->pull.lock);
    out = take_out_locked(pool, executor, all_takers);
    lock_release(&pool->pull.lock);
    lock_release(&pool->lock);
    return out;
}

/* Ends a message that was taken out and counted. `otherwise`: the status of a taker that is still
 * wanted. */
static void end_message(struct pool *pool, struct executor *executor, struct message *message,
                        int otherwise)
{
    int status = wanted_status_of(pool->runtime, executor, message);
    enum dead_reason reason = status == WEIR_ETIMEOUT      ? DEAD_EXPIRED
                              : status                     ? DEAD_CANCELLED
                              : otherwise == WEIR_ECRASHED ? DEAD_STOPPED
                                                           : DEAD_REMOVED;

    pulling_end_message(pool, executor, message, reason, status ? status : otherwise);
}

static void settle_out(struct pool *pool, struct executor *executor, struct message_list *out,
                       int otherwise)
{
    struct message *message;

    while ((message = message_list_take(out)))
        end_message(pool, executor, message, otherwise);
}

/* False: no message has become unwanted since the last scan, as far as this thread can know. */
static bool may_be_unwanted_locked(const struct pool *pool, struct executor *executor)
{
    return pool->pull.spoils && (pool->pull.changes != wanted_changes(pool->runtime) ||
                                 pool->pull.wanted_due_ns <= executor_time(executor));
}

void unwanted_drop(struct pool *pool, struct executor *executor)
{
    struct message_list out;
    uint32_t count;
    bool may;

    lock_acquire(&pool->pull.lock);
    may = may_be_unwanted_locked(pool, executor);
    lock_release(&pool->pull.lock);
    if (!may)
        return;
    out = take_out(pool, executor, false);
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
    beats = pull->beats = pull->spoils;
    lock_release(&pull->lock);
    return beats ? WANTED_BEAT_NS : TIMER_NEVER;
}

void unwanted_refuse_takers(struct pool *pool, struct executor *executor, int status)
{
    struct message_list takers = take_out(pool, executor, true);

    settle_out(pool, executor, &takers, status);
}

/* --- the mailbox of a member ------------------------------------------------------------------ */

static bool is_unwanted(const void *context, const struct message *message)
{
    struct executor *const *executor = context;

    return !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER) &&
           wanted_status_of((*executor)->runtime, *executor, message) != 0;
}

/* It leaves the member's figures, and ends in those of the pool. */
static void count_taken(struct place *place, const struct message *message)
{
    struct pool *pool = pool_of_place(place);

    lock_acquire(&pool->lock);
    settle_moved(place->actor);
    pull_count_left_locked(pool, message);
    lock_release(&pool->lock);
}

void unwanted_take_out(struct place *place, struct executor *executor, struct message_list *out)
{
    struct mailbox *mailbox = &place->actor->mailbox;
    struct mailbox_walk walk = { .may = is_unwanted, .context = &executor, .looks = LOOKS_MAX };
    uint64_t now_ns = executor_time(executor);
    struct credit credit = { 0 };
    struct message *message;

    if (now_ns < place->wanted_look_ns)
        return;
    while (credit.places < TAKEN_MAX && (message = mailbox_take_if(mailbox, &walk))) {
        mailbox_return(mailbox);
        message = unpack(executor, message);
        count_taken(place, message);
        message_list_append(out, message);
        credit.places++;
    }
    if (credit.places < TAKEN_MAX)
        place->wanted_look_ns = now_ns + WANTED_BEAT_NS;
    if (credit.places > 0)
        credit_return_now(&credit, place->actor, executor);
}

void unwanted_end(struct pool *pool, struct executor *executor, struct message_list *unwanted)
{
    settle_out(pool, executor, unwanted, WEIR_ECANCELLED);
}
