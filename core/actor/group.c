/* SPDX-License-Identifier: MIT */
#include "actor/group.h"

#include <stdlib.h>

#include "actor/runtime.h"
#include "dispatch/futex.h"

/* The size of struct weir_group_ended in its first version: all of it. */
#define ENDED_SIZE_MIN (offsetof(struct weir_group_ended, open) + sizeof(uint64_t))

/* --- life ----------------------------------------------------------------------------------- */

void groups_init(struct groups *groups)
{
    lock_init(&groups->lock, LOCK_GROUPS);
    list_init(&groups->all);
}

void groups_finish(struct groups *groups)
{
    struct list *node = groups->all.next;

    while (node != &groups->all) {
        struct list *next = node->next;

        free(LIST_ENTRY(node, struct group, link));
        node = next;
    }
    lock_finish(&groups->lock);
}

int group_create(struct runtime *runtime, uint32_t flags, struct group **out)
{
    struct group *group;

    if (flags & ~(uint32_t)WEIR_GROUP_FIRST_ERROR)
        return WEIR_EINVALID;
    group = aligned_alloc(alignof(struct group), sizeof *group);
    if (!group)
        return WEIR_ENOMEM;
    *group = (struct group){ .runtime = runtime, .stops_at_error = flags & WEIR_GROUP_FIRST_ERROR };
    lock_acquire(&runtime->groups.lock);
    list_append(&runtime->groups.all, &group->link);
    lock_release(&runtime->groups.lock);
    *out = group;
    return 0;
}

static void free_group(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((struct group *)(void *)((char *)retired - offsetof(struct group, retired)));
}

/* Messages that have joined and not ended. seq_cst: `ended` is read first, so equal counts mean
 * that no message was open at the moment of that read. */
static uint64_t count_open(struct group *group)
{
    uint64_t ended = atomic_load_explicit(&group->ended, memory_order_seq_cst);
    uint64_t parted = atomic_load_explicit(&group->parted, memory_order_seq_cst);

    return atomic_load_explicit(&group->joined, memory_order_seq_cst) - parted - ended;
}

/* The program has dropped the group, and no message is open. */
static void retire(struct group *group, struct executor *executor)
{
    struct groups *groups = &group->runtime->groups;

    /* Relaxed: it chooses one of several threads that saw the end. */
    if (atomic_fetch_or_explicit(&group->bits, GROUP_RETIRED, memory_order_relaxed) & GROUP_RETIRED)
        return;
    lock_acquire(&groups->lock);
    list_remove(&group->link);
    lock_release(&groups->lock);
    group->retired.free = free_group;
    reader_retire(&executor->reader, &group->retired);
}

void group_destroy(struct group *group)
{
    struct executor *executor = group ? runtime_enter(group->runtime) : NULL;

    if (!executor)
        return; /* without memory the runtime frees it at its end */
    /* [G1] seq_cst pairs with [G2]: one of the two sees that it is the last. */
    (void)atomic_fetch_or_explicit(&group->bits, GROUP_DROPPED, memory_order_seq_cst);
    if (count_open(group) == 0)
        retire(group, executor);
    runtime_leave(executor);
}

void groups_wake(struct groups *groups)
{
    lock_acquire(&groups->lock);
    for (struct list *node = groups->all.next; node != &groups->all; node = node->next) {
        struct group *group = LIST_ENTRY(node, struct group, link);

        atomic_fetch_add_explicit(&group->ends, 1, memory_order_release);
        futex_wake_all(&group->ends);
    }
    lock_release(&groups->lock);
}

/* --- messages ------------------------------------------------------------------------------- */

/* No message is open, and a bit asks for an action. `executor` may be NULL as in group_part. */
static void act_on_end(struct group *group, struct executor *executor, uint32_t bits)
{
    if (bits & GROUP_DROPPED) {
        if (executor)
            retire(group, executor);
        return;
    }
    (void)atomic_fetch_and_explicit(&group->bits, ~(uint32_t)GROUP_WAITED, memory_order_seq_cst);
    /* [G4] release pairs with [G5]: a thread that sets GROUP_WAITED before the line above has read
     * `ends` before, and so does not sleep. */
    atomic_fetch_add_explicit(&group->ends, 1, memory_order_release);
    futex_wake_all(&group->ends);
}

/* After an addition to one of the counts of messages that are not open any more. */
static void check_end(struct group *group, struct executor *executor)
{
    /* [G2] seq_cst, after the addition, which was seq_cst, too: a thread that sets a bit sees that
     * addition, or its bit is seen here. */
    uint32_t bits = atomic_load_explicit(&group->bits, memory_order_seq_cst);

    if (bits && count_open(group) == 0)
        act_on_end(group, executor, bits);
}

int group_join(struct group *group, struct message *message)
{
    if (group_is_cancelled(group))
        return WEIR_ECANCELLED;
    /* Relaxed: the mailbox publishes the message, and it ends after that. */
    atomic_fetch_add_explicit(&group->joined, 1, memory_order_relaxed);
    message->public.reserved |= MESSAGE_ORIGIN;
    message->origin = 0;
    message->token = (uint64_t)(uintptr_t)group;
    return 0;
}

void group_part(struct group *group, struct message *message, struct executor *executor)
{
    message->public.reserved &= ~(uint32_t)MESSAGE_ORIGIN;
    atomic_fetch_add_explicit(&group->parted, 1, memory_order_seq_cst);
    check_end(group, executor);
}

void group_add_ended(struct executor *executor)
{
    struct group *group = executor->ended_of;
    uint32_t count = executor->ended_count;

    executor->ended_count = 0;
    /* [G3] seq_cst, so release: the waiting thread sees the writes of the handlers. */
    atomic_fetch_add_explicit(&group->ended, count, memory_order_seq_cst);
    check_end(group, executor);
}

static void note_error(struct group *group, int error)
{
    int none = 0;

    /* Relaxed: read after [G3], or by a thread that does not wait for the end. */
    (void)atomic_compare_exchange_strong_explicit(&group->first_error, &none, error,
                                                  memory_order_relaxed, memory_order_relaxed);
    if (group->stops_at_error)
        group_cancel(group);
}

void group_note_error(const struct weir_message *message, int error)
{
    struct group *group = group_of(message_of(message));

    if (group)
        note_error(group, error);
}

void group_message_ended(struct group *group, struct executor *executor, int status)
{
    /* Relaxed: published by [G3]. */
    if (status == WEIR_ECANCELLED) {
        atomic_fetch_add_explicit(&group->unbegun, 1, memory_order_relaxed);
    } else if (status != 0) {
        atomic_fetch_add_explicit(&group->failed, 1, memory_order_relaxed);
        note_error(group, status);
    }
    if (executor->ended_of != group)
        group_flush(executor);
    executor->ended_of = group;
    executor->ended_count++;
    if (!executor_is_in_turn(executor))
        group_flush(executor);
}

/* --- the program ---------------------------------------------------------------------------- */

void group_cancel(struct group *group)
{
    /* Relaxed: see group_is_cancelled. Written once, for the line is read before each message. */
    if (group_is_cancelled(group))
        return;
    atomic_store_explicit(&group->cancelled, true, memory_order_relaxed);
    /* Release: a thread that sees the count sees the group cancelled. */
    atomic_fetch_add_explicit(&group->runtime->groups.cancels, 1, memory_order_release);
}

/* False: the time is over, or the runtime ends. */
static bool sleep_until_ended(struct group *group, uint64_t timeout_ms)
{
    struct clock clock = clock_monotonic();
    uint64_t deadline_ns = clock_after_ms(&clock, timeout_ms);

    for (;;) {
        /* [G5] acquire pairs with [G4]. */
        uint32_t ends = atomic_load_explicit(&group->ends, memory_order_acquire);
        uint64_t now;

        /* [G1] as in group_destroy; the count that follows pairs with [G3]. */
        (void)atomic_fetch_or_explicit(&group->bits, GROUP_WAITED, memory_order_seq_cst);
        if (count_open(group) == 0)
            return true;
        now = clock_now_ns(&clock);
        if (now >= deadline_ns || runtime_is_ending(group->runtime))
            return false;
        futex_wait(&group->ends, ends, deadline_ns == UINT64_MAX ? UINT64_MAX : deadline_ns - now);
    }
}

static void show(struct group *group, struct weir_group_ended *out)
{
    /* [G3] seq_cst, so acquire: the figures below include all ended messages. */
    uint64_t open = count_open(group);
    /* Relaxed: figures; exact when none is open and none is sent. */
    uint64_t joined = atomic_load_explicit(&group->joined, memory_order_relaxed) -
                      atomic_load_explicit(&group->parted, memory_order_relaxed);
    uint64_t failed = atomic_load_explicit(&group->failed, memory_order_relaxed);
    uint64_t unbegun = atomic_load_explicit(&group->unbegun, memory_order_relaxed);
    uint64_t others = failed + unbegun + open;

    *out = (struct weir_group_ended){
        .size = sizeof *out,
        .done = joined > others ? joined - others : 0,
        .failed = failed,
        .cancelled = unbegun,
        .open = open,
        .first_error = atomic_load_explicit(&group->first_error, memory_order_relaxed),
    };
}

int group_wait(struct group *group, uint64_t timeout_ms, struct weir_group_ended *out)
{
    bool in_time;

    if (out && out->size < ENDED_SIZE_MIN)
        return WEIR_EINVALID;
    if (runtime_is_own_thread(group->runtime))
        return WEIR_EDEADLK;
    in_time = sleep_until_ended(group, timeout_ms);
    if (out)
        show(group, out);
    if (in_time)
        return 0;
    return runtime_is_ending(group->runtime) ? WEIR_ECLOSED : WEIR_ETIMEOUT;
}
