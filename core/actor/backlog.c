/* SPDX-License-Identifier: MIT */
#include "actor/backlog.h"

#include <sched.h>

#include "actor/actor_ext.h"
#include "actor/front.h"
#include "actor/group.h"
#include "actor/kept.h"
#include "actor/misuse.h"
#include "actor/place.h"
#include "actor/retry.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/unpack.h"
#include "actor/wanted.h"

#define NS_PER_MS 1000000u
#define DEAL_LOOKS 1024u /* messages: of those that stay, so many may precede one that goes */

bool backlog_is_empty(struct actor *actor)
{
    return front_is_empty(actor) && message_queue_is_empty(&actor->urgent) &&
           message_queue_is_empty(&actor->high) && backlog_retries(actor) == 0 &&
           mailbox_empty(&actor->mailbox);
}

/* --- retries -------------------------------------------------------------------------------- */

/* After each change of the number of waiting retries. */
static void note_retries(struct actor *actor)
{
    /* Relaxed: a figure for people. */
    if (actor->place)
        atomic_store_explicit(&actor->place->retrying, backlog_retries(actor),
                              memory_order_relaxed);
}

static void report(struct actor *actor, const struct message *message, enum weir_log_level level,
                   const char *event, uint64_t after_ms)
{
    log_event(&actor->runtime->options.log, level, place_subject(actor), event,
              weir_str("detail", actor_ext_detail(actor)),
              weir_str("tag", message_tag_name(message)), weir_uint("worker", actor->place->index),
              weir_uint("attempt", message->public.attempt), weir_uint("after_ms", after_ms));
}

static void count_retry(struct actor *actor, const struct message *message, uint64_t after_ms)
{
    if (!actor->place)
        return;
    if (actor->place->dead)
        dead_letters_note_retry(actor->place->dead, actor_ext_detail(actor));
    ledger_count(&actor->place->retried);
    report(actor, message, WEIR_LOG_INFO, "message is given again", after_ms);
}

/* When to look at a message again that comes at `due_ns`: then, or when it may be unwanted. */
static uint64_t look_ns(const struct message *message, uint64_t due_ns, uint64_t now_ns)
{
    if (wanted_may_end(message) && due_ns > now_ns + WANTED_BEAT_NS)
        return now_ns + WANTED_BEAT_NS;
    return due_ns;
}

static void wait_in(struct actor *actor, enum waits list, struct message *message,
                    uint64_t delay_ms)
{
    uint64_t now_ns = executor_look_at_clock(actor->executor);

    message->again_ns = now_ns + delay_ms * NS_PER_MS;
    settle_hold(actor);
    message_list_append(&actor->ext->waits[list], message);
    actor_disturb(actor);
    note_retries(actor);
    actor_ext_arm(actor, look_ns(message, message->again_ns, now_ns));
}

void backlog_retry(struct actor *actor, struct message *message)
{
    bool goes_back = (message->public.reserved & MESSAGE_ORIGIN) && !group_of(message);
    struct actor_ext *ext = actor_ext_get(actor);
    uint64_t delay_ms = actor->retry_after_ms;

    if (!ext || !retry_allows(actor, message, &delay_ms)) {
        settle_dead(actor, message, DEAD_RETRIES, WEIR_EREJECTED);
        return;
    }
    count_retry(actor, message, delay_ms);
    if (goes_back) {
        settle_returned(actor, message, delay_ms);
        return;
    }
    message_count_attempt(&message->public);
    wait_in(actor, WAITS_RETRY, message, delay_ms);
}

void backlog_postpone(struct actor *actor, struct message *message)
{
    if (actor->place)
        report(actor, message, WEIR_LOG_WARNING, "message waits for a resource",
               actor->retry_after_ms);
    if (!actor_ext_get(actor)) { /* without memory for the time it comes again in the next turn */
        settle_hold(actor);
        front_append(actor, message);
        return;
    }
    wait_in(actor, WAITS_POSTPONED, message, actor->retry_after_ms);
}

/* Not by way of the front: while a postponed message waits, nobody takes from there. */
static bool drop_unwanted(struct actor *actor, struct message *message, backlog_dropping *drop)
{
    int status = drop ? wanted_status_of(actor->runtime, actor->executor, message) : 0;

    if (status == 0)
        return false;
    settle_unhold(actor);
    drop(actor, message, status);
    return true;
}

/* Retries are not due while a postponed message waits: its end looks at them again. */
static bool holds_retries(const struct actor *actor)
{
    return actor->ext && actor->ext->waits[WAITS_POSTPONED].count > 0;
}

/* What to end of the messages that wait. */
struct ending_waits {
    uint64_t now_ns;        /* until when they are due */
    uint32_t flags;         /* one of them ends a wait, too */
    backlog_dropping *drop; /* of those that nobody wants any more; NULL: they stay */
};

static void drop_unwanted_in(struct actor *actor, enum waits list, backlog_dropping *drop)
{
    struct message_list waiting = actor->ext->waits[list];
    struct message *message;

    actor->ext->waits[list] = (struct message_list){ 0 };
    while ((message = message_list_take(&waiting)))
        if (!drop_unwanted(actor, message, drop))
            message_list_append(&actor->ext->waits[list], message);
}

/* What was postponed comes again together, so in order: when the last of it is due, but for what
 * has one of the flags, which does not wait. 0: each message of the list has a time of its own. */
static uint64_t common_due_ns(const struct actor *actor, enum waits list, uint32_t flags)
{
    const struct message_list *waiting = &actor->ext->waits[list];
    const struct message *message = message_queue_first(&waiting->queue);
    uint64_t due_ns = 0;

    if (list != WAITS_POSTPONED)
        return 0;
    for (uint32_t i = 0; i < waiting->count; i++) {
        if (message->again_ns > due_ns && !(message->public.reserved & flags))
            due_ns = message->again_ns;
        message = message_queue_next(message);
    }
    return due_ns;
}

/* Takes out of a list what is to end its wait. `next`: when to look again, if that is sooner. */
static struct message_queue end_waits_in(struct actor *actor, enum waits list,
                                         const struct ending_waits *what, uint64_t *next)
{
    bool is_held = list == WAITS_RETRY && holds_retries(actor);
    struct message_queue ended = { 0 };
    struct message_list waiting;
    struct message *message;
    uint64_t common_ns, due_ns, look;

    drop_unwanted_in(actor, list, what->drop); /* what is dropped holds back no other one */
    common_ns = common_due_ns(actor, list, what->flags);
    waiting = actor->ext->waits[list];
    actor->ext->waits[list] = (struct message_list){ 0 };
    while ((message = message_list_take(&waiting))) {
        due_ns = common_ns ? common_ns : message->again_ns;
        if ((due_ns <= what->now_ns && !is_held) || (message->public.reserved & what->flags)) {
            message_queue_append(&ended, message);
            continue;
        }
        look = look_ns(message, is_held ? TIMER_NEVER : due_ns, what->now_ns);
        if (look < *next)
            *next = look;
        message_list_append(&actor->ext->waits[list], message);
    }
    return ended;
}

/* Moves to the front what is due, or has one of the flags. What was postponed is the next message:
 * another one would lack the same. */
static uint64_t end_waits(struct actor *actor, const struct ending_waits *what)
{
    struct message_queue ended;
    uint64_t next = TIMER_NEVER;
    struct message *message;

    if (backlog_retries(actor) == 0)
        return TIMER_NEVER;
    ended = end_waits_in(actor, WAITS_POSTPONED, what, &next);
    if (!message_queue_is_empty(&ended))
        actor->high_streak = ACTOR_HIGH_STREAK_MAX;
    front_prepend_all(actor, &ended);
    ended = end_waits_in(actor, WAITS_RETRY, what, &next);
    while ((message = message_queue_take(&ended)))
        front_append(actor, message);
    note_retries(actor);
    return next;
}

uint64_t backlog_time(struct actor *actor, uint64_t now_ns, backlog_dropping *drop)
{
    return end_waits(actor, &(struct ending_waits){ .now_ns = now_ns, .drop = drop });
}

void backlog_hurry(struct actor *actor, uint32_t flags)
{
    uint64_t next_ns = end_waits(actor, &(struct ending_waits){ .flags = flags });

    if (next_ns != TIMER_NEVER)
        actor_ext_arm(actor, next_ns); /* what held back the others may have gone */
}

/* --- handing on, and discarding ------------------------------------------------------------- */

/* Takes the next message of the backlog; the front first. */
static struct message *take_backlog(struct actor *actor)
{
    struct message *message = front_take(actor);

    for (int i = 0; !message && actor->ext && i < WAITS_COUNT; i++)
        message = message_list_take(&actor->ext->waits[i]);
    note_retries(actor);
    if (!message)
        return unpack(actor->executor, mailbox_pop(&actor->mailbox));
    settle_unhold(actor);
    return message;
}

/* Whether a message was sent to the pool. */
static bool may_go(const void *context, const struct message *message)
{
    (void)context;
    return !message_is_for_one(message);
}

/* Of held messages: those that stay keep their order, and retries their time. */
static void pass_held(struct actor *actor, struct message_queue *held, backlog_giving *give,
                      int *refusal)
{
    struct message_queue all = *held;
    struct message *message;

    *held = (struct message_queue){ 0 };
    while ((message = message_queue_take(&all))) {
        if (*refusal != 0 || !may_go(NULL, message)) {
            message_queue_append(held, message);
            continue;
        }
        settle_unhold(actor);
        *refusal = give(actor, message);
        if (*refusal != 0) {
            settle_hold(actor);
            message_queue_append(held, message);
        }
    }
}

/* What stays keeps its place in the mailbox: the worker may be recalled, with its limit. */
static void pass_mailbox(struct actor *actor, backlog_giving *give, int *refusal)
{
    struct mailbox_walk walk = { .may = may_go, .looks = UINT32_MAX };
    uint32_t count = mailbox_waiting(&actor->mailbox);
    struct message *message;

    while (count-- > 0 && *refusal == 0 && (message = mailbox_take_if(&actor->mailbox, &walk))) {
        message = unpack(actor->executor, message);
        *refusal = give(actor, message);
        if (*refusal != 0)
            mailbox_put_back(&actor->mailbox, message);
        mailbox_return(&actor->mailbox);
    }
}

/* Each message once: the pool may route it back to this worker if it was recalled. */
int backlog_pass(struct actor *actor, backlog_giving *give)
{
    bool was_held = holds_retries(actor);
    struct message_queue front;
    int refusal = 0;

    if (!place_member_of(actor))
        return WEIR_EUNSUPPORTED;
    front = front_take_all(actor);
    pass_held(actor, &front, give, &refusal);
    front_return_all(actor, &front);
    for (int i = 0; actor->ext && i < WAITS_COUNT; i++) {
        struct message_list *waits = &actor->ext->waits[i];

        pass_held(actor, &waits->queue, give, &refusal);
        waits->count = message_queue_count(&waits->queue);
    }
    note_retries(actor);
    if (was_held && !holds_retries(actor)) /* they may be due */
        actor_ext_arm(actor, executor_look_at_clock(actor->executor));
    pass_mailbox(actor, give, &refusal);
    return refusal;
}

static int reroute(struct actor *actor, struct message *message)
{
    int status = actor->place->owner->ops->reroute(actor->place, message);

    if (status == 0)
        settle_moved(actor);
    return status;
}

void backlog_reroute(struct actor *actor)
{
    (void)backlog_pass(actor, reroute);
}

/* The first message of `queue` that was sent to the actor itself; NULL: none. */
static struct message *take_own_of(struct message_queue *queue)
{
    struct message_queue all = *queue;
    struct message *own = NULL, *message;

    *queue = (struct message_queue){ 0 };
    while ((message = message_queue_take(&all)))
        if (!own && message_is_for_one(message))
            own = message;
        else
            message_queue_append(queue, message);
    return own;
}

static bool is_own(const void *context, const struct message *message)
{
    (void)context;
    return message_is_for_one(message);
}

struct message *backlog_take_own(struct actor *actor)
{
    struct mailbox_walk walk = { .may = is_own, .looks = UINT32_MAX };
    struct message_queue front = front_take_all(actor);
    struct message *message = take_own_of(&front);

    front_return_all(actor, &front);
    if (message) {
        settle_unhold(actor);
        return message;
    }
    message = unpack(actor->executor, mailbox_take_if(&actor->mailbox, &walk));
    if (message)
        mailbox_return(&actor->mailbox);
    return message;
}

uint32_t backlog_deal(struct actor *actor, uint32_t most, const struct dealer *dealer)
{
    struct mailbox_walk walk = { .may = may_go, .looks = DEAL_LOOKS };
    uint32_t taken = 0;

    while (taken < most) {
        struct message *message = mailbox_take_if(&actor->mailbox, &walk);

        if (!message)
            break;
        message = unpack(dealer->executor, message);
        if (dealer->give(dealer->context, message) != 0) {
            mailbox_put_back(&actor->mailbox, message);
            mailbox_return(&actor->mailbox);
            break;
        }
        mailbox_return(&actor->mailbox);
        taken++;
    }
    return taken;
}

void backlog_discard(struct actor *actor, enum dead_reason reason, int status)
{
    struct message *message;

    actor_ext_clear_detail(actor); /* it belongs to an earlier message */
    while ((message = take_backlog(actor)))
        settle_dead(actor, message, reason, status);
}

void backlog_discard_all(struct actor *actor, enum dead_reason reason, int status)
{
    backlog_discard(actor, reason, status);
    /* A sender needs a moment between taking a place and linking its message. */
    while (!mailbox_empty(&actor->mailbox)) {
        (void)sched_yield();
        backlog_discard(actor, reason, status);
    }
}

/* --- kept messages -------------------------------------------------------------------------- */

void backlog_discard_kept(struct actor *actor, bool are_forgotten)
{
    struct message *message;

    if (are_forgotten && actor->kept.count > 0)
        misuse_report(actor, MISUSE_FORGOTTEN, actor->kept.count);
    while ((message = kept_take(actor))) {
        message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
        if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
            settle_outside_ledger(actor, message, WEIR_EREMOVED, DEAD_KEPT);
        else
            settle_dead(actor, message, DEAD_KEPT, WEIR_EREMOVED);
    }
}
