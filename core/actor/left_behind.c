/* SPDX-License-Identifier: MIT */
#include "actor/left_behind.h"

#include <sched.h>

#include "actor/actor_ext.h"
#include "actor/audience.h"
#include "actor/children.h"
#include "actor/end.h"
#include "actor/events.h"
#include "actor/front.h"
#include "actor/kept.h"
#include "actor/lease.h"
#include "actor/leases.h"
#include "actor/lifecycle.h"
#include "actor/place.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/unpack.h"
#include "message/control_queue.h"

const char *left_behind_refusal(const struct actor *actor)
{
    /* Relaxed: the owner has written both before its callback. */
    if (atomic_load_explicit(&actor->busy, memory_order_relaxed) != ACTOR_HANDLES ||
        (actor->flags & ACTOR_CLOSING) || actor_state(actor) != ACTOR_OPEN)
        return "only a thread in `handle` is left behind";
    if (leases_are_given(actor->place->owner->leases) || lease_of(actor))
        return "its pool has leases";
    if (children_are_alive(actor))
        return "it has spawned actors that are alive";
    if (actor->leaving)
        return "it leaves its pool";
    if (actor->spec->behaviour->flags & (WEIR_EXCLUSIVE | WEIR_ALONE))
        return "its behaviour is exclusive: two of its workers never run together";
    return NULL;
}

/* --- in hand -------------------------------------------------------------------------------- */

static bool copy(struct executor *by, const struct message *message, struct message_list *out)
{
    struct message *twin = message_twin(&by->cache, message);

    if (twin)
        message_list_append(out, twin);
    return twin != NULL;
}

static void forget(struct executor *by, struct message_list *copies)
{
    struct message *message;

    while ((message = message_list_take(copies))) {
        message->public.reserved &= ~(uint32_t)MESSAGE_TRACKED; /* still that of the original */
        message_destroy(&by->cache, message);
    }
}

int left_behind_copy(const struct actor *actor, struct executor *by, struct message_list *out)
{
    const struct message *kept = kept_first(actor);
    bool is_done = true;

    for (; is_done && kept; kept = kept_next(actor, kept))
        is_done = copy(by, kept, out);
    /* What is no message, such as the notice of a link, ends with the callback. */
    if (is_done && actor->current && actor->current->public.kind <= WEIR_EVENT)
        is_done = copy(by, actor->current, out);
    if (!is_done)
        forget(by, out);
    return is_done ? 0 : WEIR_ENOMEM;
}

/* --- messages that wait --------------------------------------------------------------------- */

/* Holder; `message` counts as in hand with `actor`. */
static void hand_on(struct actor *actor, struct actor *successor, struct message *message)
{
    settle_moved(actor);
    settle_pulled(successor);
    settle_hold(successor);
    message_queue_append(&successor->front, message);
}

static void hand_on_held(struct actor *actor, struct actor *successor, struct message_queue *held)
{
    struct message *message;

    while ((message = message_queue_take(held))) {
        settle_unhold(actor);
        hand_on(actor, successor, message);
    }
}

/* Redelivered messages were begun before those that wait for a retry. */
static void hand_on_all_held(struct actor *actor, struct actor *successor)
{
    struct message_queue front = front_take_all(actor);
    struct actor_ext *ext = actor->ext;

    if (ext)
        hand_on_held(actor, successor, &ext->stash.queue);
    hand_on_held(actor, successor, &front);
    if (!ext)
        return;
    for (int i = 0; i < WAITS_COUNT; i++) {
        hand_on_held(actor, successor, &ext->waits[i].queue);
        ext->waits[i].count = 0;
    }
    ext->stash.count = 0;
    ext->row = NULL;
    /* Relaxed: a figure for people. */
    atomic_store_explicit(&actor->place->retrying, 0, memory_order_relaxed);
}

/* A sender that was admitted before the mailbox closed is about to link its message. */
static void hand_on_mailbox(struct actor *actor, struct actor *successor, struct executor *by)
{
    while (!mailbox_empty(&actor->mailbox)) {
        struct message *message = unpack(by, mailbox_pop(&actor->mailbox));

        if (message)
            hand_on(actor, successor, message);
        else
            (void)sched_yield();
    }
}

static void hand_on_lane(struct mailbox *mailbox, struct message_queue *from,
                         struct message_queue *to, enum weir_lane lane)
{
    struct message *message;

    while ((message = message_queue_take(from))) {
        message_queue_append(to, message);
        /* Relaxed: the successor has not begun. */
        atomic_fetch_add_explicit(&mailbox->lanes[lane - WEIR_HIGH], 1, memory_order_relaxed);
    }
}

static void sort(struct actor *actor, struct message *message)
{
    message->public.reserved |= MESSAGE_OUTSIDE_LEDGER;
    if (message->public.kind > WEIR_EVENT)
        message_queue_append(&actor->control, message);
    else if (message->public.lane == WEIR_URGENT)
        message_queue_append(&actor->urgent, message);
    else
        message_queue_append(&actor->high, message);
}

/* Replies and notices are for the incarnation itself: they end with it, as its signals do. */
static void hand_on_lanes(struct actor *actor, struct actor *successor)
{
    uint32_t signals;
    struct message *message = control_queue_take(&actor->mailbox, &signals);

    while (message) {
        struct message *next = atomic_load_explicit(&message->next, memory_order_relaxed);

        sort(actor, message);
        message = next;
    }
    hand_on_lane(&successor->mailbox, &actor->urgent, &successor->urgent, WEIR_URGENT);
    hand_on_lane(&successor->mailbox, &actor->high, &successor->high, WEIR_HIGH);
}

/* What the next incarnation may claim. */
static void give_up_names(struct actor *actor, struct executor *by)
{
    struct actor_ext *ext = actor->ext;

    if (ext && ext->has_names)
        names_remove_claims(&actor->runtime->names, actor_pid(actor), &by->reader);
    if (ext && ext->has_events)
        events_forget(actor->runtime, by, audience_id(actor));
    if (ext)
        ext->has_names = ext->has_events = false;
}

void left_behind_begin(struct actor *actor, struct actor *successor, struct executor *by)
{
    /* The owner reads it after it has waited for the holder. */
    actor->leaving = LEAVING_BEHIND;
    hand_on_all_held(actor, successor);
    hand_on_mailbox(actor, successor, by);
    hand_on_lanes(actor, successor);
    give_up_names(actor, by);
}

/* --- the end -------------------------------------------------------------------------------- */

/* Frees an original, whose copy was settled. */
static void let_go(struct actor *actor, struct message *message)
{
    message->public.reserved &= ~(uint32_t)(MESSAGE_TRACKED | MESSAGE_KEPT);
    message_destroy(&actor->executor->cache, message);
}

void left_behind_end(struct actor *actor)
{
    struct message *message;

    while ((message = kept_take(actor)))
        let_go(actor, message);
    if (actor->current)
        let_go(actor, actor->current);
    actor->current = NULL;
    actor->flags &= (uint8_t)~ACTOR_FAILS;
    actor_disturb(actor);
    end_actor(actor, WEIR_END_KILL, END_FLUSHED);
    if (actor_state(actor) != ACTOR_ENDED) /* its outbox waits for room */
        actor->leaving = LEAVING_OVER;
}
