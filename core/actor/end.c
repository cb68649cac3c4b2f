/* SPDX-License-Identifier: MIT */
#include "actor/end.h"

#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/alarm.h"
#include "actor/backlog.h"
#include "actor/children.h"
#include "actor/deadlines.h"
#include "actor/incarnation.h"
#include "actor/kept.h"
#include "actor/lease.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/output.h"
#include "actor/port.h"
#include "actor/request.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/slots.h"
#include "actor/unpack.h"
#include "actor/watched.h"
#include "message/control_queue.h"

static bool is_link_notice(const struct message *message)
{
    return message->public.kind >= MESSAGE_LINK && message->public.kind <= MESSAGE_DEMONITOR;
}

static void bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                   struct message *message)
{
    if (is_link_notice(message))
        link_bounce(runtime, executor, ended, message);
    else if (message->public.kind == MESSAGE_INSPECT)
        request_answer(runtime, executor, message, WEIR_ETERMINATED, "");
    else if (message->public.kind == MESSAGE_REPLY)
        request_bounce(runtime, executor, ended, message);
    else
        settle_stray(runtime, executor, message, DEAD_TERMINATED, WEIR_ETERMINATED, 0);
}

/* Relaxed: the release of the slot finds later messages, because it waits for all senders. */
static bool has_other(const struct actor *actor)
{
    return mailbox_has_other(&actor->mailbox) ||
           atomic_load_explicit(&actor->mailbox.other, memory_order_relaxed);
}

__attribute__((noinline)) static void bounce_each(struct actor *actor, struct executor *executor,
                                                  weir_pid ended)
{
    struct message_queue *queues[] = { &actor->control, &actor->urgent, &actor->high };
    struct message *message;
    uint32_t signals;

    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++)
        while ((message = message_queue_take(queues[i])))
            bounce(actor->runtime, executor, ended, message);
    if (!has_other(actor))
        return;
    message = control_queue_take(&actor->mailbox, &signals);
    while (message) {
        struct message *next = atomic_load_explicit(&message->next, memory_order_relaxed);

        bounce(actor->runtime, executor, ended, message);
        message = next;
    }
}

/* Answers the messages beside the normal lane; most actors end without any. */
static inline void bounce_all(struct actor *actor, struct executor *executor, weir_pid ended)
{
    if (has_other(actor) || !message_queue_is_empty(&actor->control) ||
        !message_queue_is_empty(&actor->urgent) || !message_queue_is_empty(&actor->high))
        bounce_each(actor, executor, ended);
}

/* Runs after the grace period: no thread is between finding the actor and sending to it. */
static void free_slot(struct retired *retired, struct reader *reader)
{
    struct actor *actor = (struct actor *)(void *)((char *)retired -
                                                   offsetof(struct actor, retired));
    struct executor *executor = (struct executor *)(void *)((char *)reader -
                                                            offsetof(struct executor, reader));

    /* The slot has the next serial already. */
    bounce_all(actor, executor, actor_pid(actor) - ((weir_pid)1 << 32));
    room_queue_destroy(actor);
    slots_give(&actor->runtime->slots, &executor->slots, actor);
}

static void retire_slot(struct actor *actor, struct executor *executor)
{
    dispatcher_end_user(actor->dispatcher, executor); /* it runs no more turns */
    actor->retired.free = free_slot;
    reader_retire(&executor->reader, &actor->retired);
}

static void destroy_ext(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    if (!ext)
        return;
    timers_disarm(&actor->dispatcher->timers, &ext->timer);
    timers_release(&actor->dispatcher->timers);
    port_close(ext->port);
    watched_end_all(actor);
    deadlines_finish(&ext->deadlines);
    free(ext->pending);
    free(ext->alarms);
    free(ext->detail);
    free(ext);
    actor->ext = NULL;
}

static void drop_spec_and_place(struct actor *actor)
{
    spec_unref(actor->spec);
    actor->spec = NULL;
    if (actor->place)
        names_unlabel(&actor->runtime->names, &actor->place->name);
    children_destroy(actor->place);
    place_destroy(actor->place);
    actor->place = NULL;
}

void end_settle_input(struct actor *actor)
{
    struct outbox *outbox = place_outbox(actor->place);
    struct message *message = outbox ? outbox->settling : NULL;

    if (!message)
        return;
    outbox->settling = NULL;
    settle_unhold(actor);
    settle_done(actor, message);
}

void end_drop_outbox(struct actor *actor, enum dead_reason reason, int status)
{
    if (!place_outbox(actor->place))
        return;
    output_drop_all(actor, reason, status);
    end_settle_input(actor);
}

static void drop_outbox(struct actor *actor)
{
    end_drop_outbox(actor, DEAD_NO_TARGET, WEIR_ETERMINATED);
}

/* Ends the actor: removes it from its owner, and gives its slot back. */
static void finish(struct actor *actor, enum weir_end_reason reason)
{
    struct place *place = actor->place;
    bool gives_notice = place && place->gives_notice;
    weir_pid pid = actor_pid(actor);

    drop_outbox(actor); /* empty or not: a source may stand in a wait queue, too */
    backlog_discard_all(actor, DEAD_TERMINATED, WEIR_ETERMINATED);
    link_notify_all(actor, reason, 0);
    destroy_ext(actor);
    mailbox_end(&actor->mailbox);
    room_queue_dissolve(actor, actor->executor);
    lifecycle_apply(actor, LIFE_ENDED);
    bounce_all(actor, actor->executor, pid);
    if (place && place->owner && place->owner->ops->ended)
        place->owner->ops->ended(place);
    retire_slot(actor, actor->executor);
    drop_spec_and_place(actor);
    if (gives_notice)
        runtime_notice(actor->runtime);
}

void end_actor(struct actor *actor, enum weir_end_reason reason, enum end_when when)
{
    if (actor_state(actor) != ACTOR_CLOSED)
        incarnation_close(actor, reason);
    mailbox_close(&actor->mailbox);
    if (when == END_NOW)
        drop_outbox(actor);
    if (!output_is_waiting(actor) && !children_are_alive(actor)) {
        finish(actor, reason);
        return;
    }
    actor->end_reason = (uint8_t)reason;
    lifecycle_apply(actor, LIFE_CLOSED);
}

void end_unborn(struct actor *actor, struct executor *executor)
{
    mailbox_end(&actor->mailbox);
    lifecycle_apply(actor, LIFE_ENDED);
    retire_slot(actor, executor);
    drop_spec_and_place(actor);
}

static void free_queue(struct message_queue *queue, struct executor *executor)
{
    struct message *message;

    while ((message = message_queue_take(queue)))
        message_destroy(&executor->cache, message);
}

static void free_outbox(struct outbox *outbox, struct executor *executor)
{
    free_queue(&outbox->waiting.queue, executor);
    free_queue(&outbox->copies.queue, executor);
    message_destroy(&executor->cache, outbox->settling);
}

void end_abandoned(struct actor *actor, struct executor *executor)
{
    struct message_list kept = kept_take_all(actor);
    struct message_queue *queues[] = { &actor->control, &actor->urgent, &actor->high, &actor->front,
                                       &kept.queue };
    struct message *message;
    uint32_t signals;

    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++)
        free_queue(queues[i], executor);
    link_free_all(actor, executor);
    while ((message = unpack(executor, mailbox_pop(&actor->mailbox))))
        message_destroy(&executor->cache, message);
    message = control_queue_take(&actor->mailbox, &signals);
    while (message) {
        struct message *next = atomic_load_explicit(&message->next, memory_order_relaxed);

        message_destroy(&executor->cache, message);
        message = next;
    }
    room_queue_destroy(actor);
    if (!actor->runtime || actor_state(actor) == ACTOR_ENDED)
        return;
    if (place_outbox(actor->place))
        free_outbox(place_outbox(actor->place), executor);
    if (actor->place && lease_of(actor)) /* the TAKE is NULL if it was lent */
        message_destroy(&executor->cache, lease_of(actor)->take);
    actor->executor = executor;
    if (actor->ext) {
        free_queue(&actor->ext->stash.queue, executor);
        for (int i = 0; i < WAITS_COUNT; i++)
            free_queue(&actor->ext->waits[i].queue, executor);
        free_queue(&actor->ext->events.queue, executor);
        alarm_free_all(actor);
    }
    destroy_ext(actor);
    incarnation_free_state(actor);
    drop_spec_and_place(actor);
    lifecycle_apply(actor, LIFE_ENDED);
}
