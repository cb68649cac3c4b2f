/* SPDX-License-Identifier: MIT */
#include "pool/pulling.h"

#include "actor/dead_store.h"
#include "actor/lease_turn.h"
#include "actor/lifecycle.h"
#include "actor/request.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/wanted.h"
#include "pool/elastic.h"
#include "pool/lending.h"
#include "pool/pool.h"
#include "pool/pull_queue.h"
#include "pool/route_ops.h"
#include "pool/takers.h"

void pulling_init(struct pull_queue *pull, uint32_t depth)
{
    lock_init_nested(&pull->lock, LOCK_PULL, depth);
    list_init(&pull->idle);
    pull->wanted_due_ns = TIMER_NEVER;
}

void pulling_finish(struct pull_queue *pull, struct executor *executor)
{
    struct message *message;

    while ((message = message_list_take(&pull->messages)))
        message_destroy(&executor->cache, message);
    lock_finish(&pull->lock);
}

/* --- idle workers ---------------------------------------------------------------------------- */

/* The actor of a place comes to the queue, or never will. The lock of the place's pool is held. */
static void forget_call_locked(struct place *place)
{
    pull_end_call_locked(place);
    /* Relaxed, both: they bound the takers that wait; the member looks at the queue after this. */
    atomic_store_explicit(&place->called_ns, 0, memory_order_relaxed);
    if (place->opens_for)
        atomic_fetch_sub_explicit(&place->opens_for->opening, 1, memory_order_relaxed);
    place->opens_for = NULL;
}

/* Under the lock, so that the place cannot end. `caller`: the queue with the message. False: no
 * place sleeps. */
static bool wake_for_locked(struct pull_queue *pull, struct pull_queue *caller,
                            struct executor *executor)
{
    struct place *place;

    if (list_empty(&pull->idle))
        return false;
    /* Takes the member that went to sleep last: its memory is most likely in the cache. */
    place = LIST_ENTRY(pull->idle.previous, struct place, pulling);
    pull_unnote_locked(place, PLACE_NOT_NOTED);
    /* A message that is no taker waits also while all threads are busy. */
    pull_call_locked(place, caller, caller->leases ? executor_time(executor) : 0);
    (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                       SIGNAL_WORK);
    return true;
}

static bool wake_one_locked(struct pull_queue *pull, struct executor *executor)
{
    return wake_for_locked(pull, pull, executor);
}

bool pulling_wake_for(struct pool *pool, struct pull_queue *caller, struct executor *executor)
{
    bool woke;

    lock_acquire(&pool->pull.lock);
    woke = wake_for_locked(&pool->pull, caller, executor);
    lock_release(&pool->pull.lock);
    return woke;
}

void pulling_awake(struct place *place)
{
    struct pull_queue *pull = &pool_of_place(place)->pull;

    lock_acquire(&pull->lock);
    if (pull_note_of(place) == PLACE_LENT) {
        lending_adopt_locked(place); /* if the lease is over, the place was called */
    } else {
        if (pull_note_of(place) == PLACE_FREE)
            pull_unnote_locked(place, PLACE_NOT_NOTED);
        forget_call_locked(place);
    }
    lock_release(&pull->lock);
}

void pulling_give_up_opening(struct place *place)
{
    struct pull_queue *pull = &pool_of_place(place)->pull;

    lock_acquire(&pull->lock);
    if (place->opens_for) /* else it has come to the queue, and may be noted as idle */
        forget_call_locked(place);
    lock_release(&pull->lock);
}

/* Wakes a member for a message that waits. False: a message waits, and no member sleeps. */
static bool wake_if_waiting(struct pool *pool, struct executor *executor)
{
    struct pull_queue *pull = &pool->pull;
    bool is_served;

    lock_acquire(&pull->lock);
    is_served = pull->messages.count == 0 || wake_one_locked(pull, executor);
    lock_release(&pull->lock);
    return is_served;
}

static void drop_tries(struct pool *pool, struct executor *executor)
{
    /* Relaxed: the member for which a try came ends a turn after it. */
    if (atomic_load_explicit(&pool->pull.tries, memory_order_relaxed) > 0)
        takers_drop_tries(pool, executor);
}

void pulling_pass_on(struct pool *pool, struct executor *executor)
{
    drop_tries(pool, executor);
    /* Relaxed: a member that was woken for a message and cannot take it sees that message, and the
     * members that slept then, by the lock and the signal. */
    if (atomic_load_explicit(&pool->owner.waiting, memory_order_relaxed) > 0 &&
        atomic_load_explicit(&pool->pull.sleeping, memory_order_relaxed) > 0)
        (void)wake_if_waiting(pool, executor);
}

void pulling_missed(struct pool *pool, struct executor *executor)
{
    drop_tries(pool, executor);
    /* Relaxed: as in pulling_pass_on. */
    if (atomic_load_explicit(&pool->owner.waiting, memory_order_relaxed) > 0 &&
        !wake_if_waiting(pool, executor) && pool_senses(pool))
        elastic_notice(pool, executor);
}

/* --- in and out ------------------------------------------------------------------------------ */

/* Whether the byte limit has room for the message. */
static int weigh_locked(const struct pull_queue *pull, const struct message *message)
{
    uint64_t size = pull_size_of(message);

    if (size > pull->bytes_limit_each)
        return WEIR_EINVALID;
    return pull->bytes > pull->bytes_limit || size > pull->bytes_limit - pull->bytes ? WEIR_EFULL
                                                                                     : 0;
}

/* The number of messages for which there is room, whatever their bytes. */
static uint64_t room_locked(const struct pool *pool, bool tries)
{
    const struct pull_queue *pull = &pool->pull;

    if (pull->leases)
        return takers_room_locked(pool, tries);
    if (pull->limit == PULLING_UNBUFFERED) /* each message wakes one that sleeps */
        return atomic_load_explicit(&pull->sleeping, memory_order_relaxed);
    return pull->messages.count < pull->limit ? pull->limit - pull->messages.count : 0;
}

/* Whether the queue has room for the message. */
static int has_room_locked(const struct pool *pool, const struct message *message)
{
    int status = pool->pull.closed ? WEIR_ECLOSED : weigh_locked(&pool->pull, message);
    bool tries = message->public.reserved & MESSAGE_TRIES;

    if (status == 0 && !pulling_has_workers(pool))
        return WEIR_EFULL;
    return status == 0 && room_locked(pool, tries) == 0 ? WEIR_EFULL : status;
}

/* The pool's actor looks for unwanted messages as long as any may come. */
static void ask_for_beat_locked(struct pool *pool, struct executor *executor)
{
    if (!pool->pull.spoils || pool->pull.beats)
        return;
    pool->pull.beats = true;
    (void)actor_signal(pool->actor, actor_serial_of(pool->pid), executor, SIGNAL_TIME);
}

void pulling_append_locked(struct pool *pool, struct executor *executor, struct message *message)
{
    struct pull_queue *pull = &pool->pull;

    message->public.lane = WEIR_NORMAL;
    /* Takers of a queue and of its group are compared; a thread from outside reads the clock. */
    message->queued_ns = pull->leases ? executor_time(executor) : executor->now_ns;
    message_list_append(&pull->messages, message);
    pull_note_due_locked(pull, message);
    ask_for_beat_locked(pool, executor);
    pull->admitted++;
    pull_count_locked(pull, message, true);
    pull_set_waiting_locked(pool);
}

static void append_locked(struct pool *pool, struct executor *executor, struct message *message)
{
    struct pull_queue *pull = &pool->pull;

    pulling_append_locked(pool, executor, message);
    /* Also when it does not sleep: a member that was returned serves this message. */
    if (!wake_one_locked(pull, executor) && pool_senses(pool) &&
        (!pull->leases || pull->messages.count > takers_unused_locked(pool, true)))
        elastic_notice(pool, executor);
}

int pulling_push(struct pool *pool, struct executor *executor, struct message *message)
{
    struct pull_queue *pull = &pool->pull;
    int status;

    lock_acquire(&pull->lock);
    /* The thread that changes the route takes the lock afterwards, and wakes the members
     * only then. */
    if (!route_ops_of(pool)->pulls)
        status = PULLING_NO_MORE;
    else if ((message->public.reserved & MESSAGE_TAKE) && !pull->leases)
        status = WEIR_EUNSUPPORTED; /* since the taker looked */
    else
        status = has_room_locked(pool, message);
    if (status == 0)
        append_locked(pool, executor, message);
    lock_release(&pull->lock);
    return status;
}

/* True when the leaving members must finish the queue: no other member takes from it. */
static bool is_finished_by_leavers(const struct pool *pool)
{
    /* Acquire pairs with the releases in pool_close and pulling_leave_behind: no message is
     * admitted any more. */
    return flags_is_closing(&pool->flags) ||
           atomic_load_explicit(&pool->pull.left_behind, memory_order_acquire);
}

/*
 * Whether the actor may take a message: it is a member and does not leave, or it must finish the
 * queue. Checked under the lock, since a message that is sent after the order to leave is not for
 * this actor, whose signal may not have arrived yet.
 */
static bool may_pull_locked(struct actor *actor)
{
    if (is_finished_by_leavers(pool_of_place(actor->place)))
        return true;
    return !actor->leaving && !mailbox_is_closed(&actor->mailbox);
}

static struct message *take_or_sleep_locked(struct actor *actor, struct pool *group, bool lends)
{
    struct pool *pool = pool_of_place(actor->place);
    struct message *message;

    /* A pool that closes finishes its own queue alone, and so does one that is paused. */
    if (group && (is_finished_by_leavers(pool) || flags_is_paused(&pool->flags)))
        group = NULL;
    forget_call_locked(actor->place);
    if (!may_pull_locked(actor))
        return NULL; /* when it becomes a member, or is recalled, it gets a signal */
    message = pull_take_out_locked(pull_first_locked(pool, group));
    if (!message) {
        if (pull_note_of(actor->place) == PLACE_NOT_NOTED) {
            lending_prepare_locked(actor, lends);
            pull_note_free_locked(actor->place);
        }
        return NULL;
    }
    settle_pulled(actor);
    return message;
}

struct message *pulling_take(struct actor *actor)
{
    struct pool *pool = pool_of_place(actor->place);
    struct pool *group = lease_group_of(pool);
    bool lends = lease_may_be_lent(actor);
    struct message *message;

    /* Both locks: a taker of the group finds the member noted as idle, or the member finds it. */
    if (group)
        lock_acquire(&group->pull.lock);
    lock_acquire(&pool->pull.lock);
    message = take_or_sleep_locked(actor, group, lends);
    lock_release(&pool->pull.lock);
    if (group)
        lock_release(&group->pull.lock);
    return message;
}

void pulling_prepend_locked(struct pool *pool, struct message *message)
{
    message_list_prepend(&pool->pull.messages, message);
    pull_note_due_locked(&pool->pull, message);
    pool->pull.admitted++;
    pull_count_locked(&pool->pull, message, true);
    pull_set_waiting_locked(pool);
}

void pulling_put_back(struct place *place, struct message *message, struct executor *executor)
{
    struct pool *pool = pool_of_place(place);

    lock_acquire(&pool->pull.lock);
    pulling_prepend_locked(pool, message);
    (void)wake_one_locked(&pool->pull, executor);
    lock_release(&pool->pull.lock);
}

bool pulling_keeps(struct place *place)
{
    const struct pool *pool = pool_of_place(place);

    /* Relaxed: no message is admitted any more, so 0 stays 0; see pulling_close_locked. */
    return is_finished_by_leavers(pool) &&
           atomic_load_explicit(&pool->owner.waiting, memory_order_relaxed) > 0;
}

uint64_t pulling_bytes_limit(struct pool *pool)
{
    uint64_t limit;

    lock_acquire(&pool->pull.lock);
    limit = pool->pull.bytes_limit_each;
    lock_release(&pool->pull.lock);
    return limit;
}

/* --- bounds ---------------------------------------------------------------------------------- */

uint64_t pulling_room(struct pool *pool)
{
    struct pull_queue *pull = &pool->pull;
    uint64_t room = 0;

    lock_acquire(&pull->lock);
    if (!pull->closed && pulling_has_workers(pool) && pull->bytes < pull->bytes_limit)
        room = room_locked(pool, false);
    lock_release(&pull->lock);
    return room;
}

static uint64_t limit_of(const struct pool *pool)
{
    uint32_t each = pool->settings.mailbox;

    if (!pool->spec && pool->settings.lease.on) /* a group of pools */
        return pool->settings.lease.queue;
    /* A pool that scales itself grows for a taker that waits. */
    if (pool->target == 0 && !(pool->settings.lease.on && pool->settings.scale.on))
        return 0;
    if (pool->settings.lease.on)
        return pool->settings.lease.queue;
    if (each == WEIR_UNBUFFERED)
        return PULLING_UNBUFFERED;
    return each ? (uint64_t)pool->target * each : UINT64_MAX;
}

static uint32_t growth_of(const struct pool *pool)
{
    return pool->settings.size_max > pool->target ? pool->settings.size_max - pool->target : 0;
}

void pulling_set_bounds_locked(struct pool *pool)
{
    struct pull_queue *pull = &pool->pull;

    lock_acquire(&pull->lock);
    pull->leases = pool->settings.lease.on;
    pull->limit = limit_of(pool);
    /* Relaxed, both: read under the lock, or as a hint. */
    atomic_store_explicit(&pull->growth, growth_of(pool), memory_order_relaxed);
    atomic_store_explicit(&pull->empty, pool->spec && pool->target == 0, memory_order_relaxed);
    pull->bytes_limit_each = pool->settings.mailbox_bytes ? pool->settings.mailbox_bytes
                                                          : UINT64_MAX;
    if (!pool->settings.mailbox_bytes ||
        __builtin_mul_overflow(pool->settings.mailbox_bytes, pool->target, &pull->bytes_limit))
        pull->bytes_limit = UINT64_MAX;
    lock_release(&pull->lock);
    leases_set(&pool->leases, pool->settings.lease.on, pool->settings.lease.timeout_ms);
    pulling_set_stopped_locked(pool);
}

void pulling_end_leases_locked(struct pool *pool)
{
    /* Under the queue's lock: a member that takes from the queue later finds leases off. */
    lock_acquire(&pool->pull.lock);
    leases_set(&pool->leases, false, pool->settings.lease.timeout_ms);
    lock_release(&pool->pull.lock);
}

void pulling_close_locked(struct pool *pool)
{
    lock_acquire(&pool->pull.lock);
    pool->pull.closed = true;
    lock_release(&pool->pull.lock);
}

void pulling_begin_locked(struct pool *pool, struct executor *executor)
{
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct actor *actor = LIST_ENTRY(node, struct place, link)->actor;

        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_WORK);
    }
}

/* --- the end, and the figures ----------------------------------------------------------------- */

static struct message *take_left_locked(struct pool *pool)
{
    struct pull_queue *pull = &pool->pull;
    struct message *message;

    lock_acquire(&pull->lock);
    message = message_list_take(&pull->messages);
    if (message)
        pull_count_locked(pull, message, false);
    pull_set_waiting_locked(pool);
    lock_release(&pull->lock);
    if (message)
        pull_count_left_locked(pool, message);
    return message;
}

/* Settles a message of the queue as dead, after it was counted. Takes it. */
static void settle_queued(struct pool *pool, struct executor *executor, struct message *message,
                          enum dead_reason reason, int status)
{
    const struct dead_letter_way to_pool = { .to = pool->pid, .output = DEAD_LETTER_DIRECT };
    char text[DEAD_LETTER_DETAIL];
    const char *detail = dead_letters_detail(message, "", text);
    uint64_t record;

    record = dead_store_append(pool->runtime, message, pool->pid, pool->path, NULL, reason, detail);
    dead_letters_add(&pool->dead, message, &to_pool, reason, detail, record,
                     executor_time(executor));
    log_event(&pool->runtime->options.log, WEIR_LOG_WARNING, pool->path, dead_reason_event(reason),
              weir_str("reason", dead_reason_name(reason)), weir_str("detail", detail),
              weir_str("tag", message_tag_name(message)));
    settle_stray(pool->runtime, executor, message, reason, status, record);
}

void pulling_end_message(struct pool *pool, struct executor *executor, struct message *message,
                         enum dead_reason reason, int status)
{
    if (message->public.reserved & MESSAGE_TAKE)
        takers_refuse(pool, executor, message, status);
    else
        settle_queued(pool, executor, message, reason, status);
}

void pulling_discard(struct pool *pool, struct executor *executor)
{
    struct message *message;

    do {
        lock_acquire(&pool->lock);
        message = take_left_locked(pool);
        lock_release(&pool->lock);
        if (message)
            pulling_end_message(pool, executor, message, DEAD_REMOVED, WEIR_EREMOVED);
    } while (message);
}

/* --- stopped ---------------------------------------------------------------------------------- */

static bool have_all_stopped_locked(const struct pool *pool)
{
    for (const struct list *node = pool->places.next; node != &pool->places; node = node->next)
        if (actor_state(LIST_ENTRY(node, struct place, link)->actor) != ACTOR_STOPPED)
            return false;
    return !list_empty(&pool->places);
}

void pulling_set_stopped_locked(struct pool *pool)
{
    lock_acquire(&pool->pull.lock);
    atomic_store_explicit(&pool->pull.stopped, have_all_stopped_locked(pool), memory_order_relaxed);
    lock_release(&pool->pull.lock);
}

void pulling_discard_stopped(struct pool *pool, struct executor *executor)
{
    struct message *message;

    do {
        lock_acquire(&pool->lock);
        message = pulling_has_stopped(pool) ? take_left_locked(pool) : NULL;
        lock_release(&pool->lock);
        if (message)
            pulling_end_message(pool, executor, message, DEAD_STOPPED, WEIR_ECRASHED);
    } while (message);
}

/* --- the last members ------------------------------------------------------------------------- */

void pulling_leave_behind(struct pool *pool, bool left_behind)
{
    /* Release pairs with the acquire in is_finished_by_leavers. */
    atomic_store_explicit(&pool->pull.left_behind, left_behind, memory_order_release);
}

void pulling_end_if_left(struct pool *pool, struct executor *executor)
{
    bool is_left;

    lock_acquire(&pool->lock);
    is_left = atomic_load_explicit(&pool->pull.left_behind, memory_order_relaxed) &&
              atomic_load_explicit(&pool->owner.waiting, memory_order_relaxed) > 0 &&
              list_empty(&pool->leavers) && list_empty(&pool->closers);
    lock_release(&pool->lock);
    if (is_left)
        pulling_discard(pool, executor);
}

uint64_t pulling_admitted_frozen(const struct pool *pool)
{
    return pool->pull.admitted;
}

uint32_t pulling_freeze_locked(struct pool *pool)
{
    lock_acquire(&pool->pull.lock);
    return pool->pull.messages.count;
}

void pulling_thaw_locked(struct pool *pool)
{
    lock_release(&pool->pull.lock);
}
