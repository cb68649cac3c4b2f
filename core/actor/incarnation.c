/* SPDX-License-Identifier: MIT */
#include "actor/incarnation.h"

#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/alarm.h"
#include "actor/audience.h"
#include "actor/backlog.h"
#include "actor/callback.h"
#include "actor/children.h"
#include "actor/demand.h"
#include "actor/descriptor_share.h"
#include "actor/events.h"
#include "actor/front.h"
#include "actor/kept.h"
#include "actor/lease.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/misuse.h"
#include "actor/port.h"
#include "actor/progress.h"
#include "actor/request.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/stash.h"
#include "actor/watched.h"
#include "face/turns.h"

/* --- state ---------------------------------------------------------------------------------- */

static void *make_state(const struct weir_behaviour *behaviour)
{
    return behaviour->state_size ? calloc(1, behaviour->state_size) : (void *)NO_STATE_BEGIN;
}

void incarnation_free_state(struct actor *actor)
{
    if (actor->memory != (const void *)NO_STATE_BEGIN)
        free(actor->memory);
    actor->memory = NULL;
}

/* Ends everything of the incarnation: requests, alarms, names, monitors, watched descriptors, its
 * port. */
static void end_ext(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    if (actor->place)
        place_name_process(actor->place, 0);
    if (!ext)
        return;
    request_drop_all(actor);
    alarm_end_all(actor);
    watched_end_all(actor);
    descriptor_share_end(actor);
    link_withdraw_monitors(actor);
    if (ext->has_names)
        names_remove_claims(&actor->runtime->names, actor_pid(actor), &actor->executor->reader);
    ext->has_names = false;
    port_close(ext->port);
    ext->port = NULL;
    if (ext->has_events)
        events_forget(actor->runtime, actor->executor, audience_id(actor));
    ext->has_events = false;
    ext->life++;
    ext->origins_open = 0;
}

/* --- opening -------------------------------------------------------------------------------- */

/* An opener's threads run nothing but `open`: an `open` that never returns delays no other actor's
 * messages. */
static int call_behaviour(struct actor *actor)
{
    struct executor *executor = actor->executor;
    bool apart = executor->dispatcher != actor->dispatcher;
    int status;

    callback_begin(actor, NOTE_OPEN);
    if (apart) {
        callback_may_block(actor);
        /* Relaxed: the count is read when no open has begun or ended for a long time. */
        atomic_fetch_add_explicit(&actor->runtime->opens_apart, 1, memory_order_relaxed);
    }
    status = actor->spec->behaviour->open(&actor->self, actor->spec->settings, actor->memory);
    if (apart)
        atomic_fetch_sub_explicit(&actor->runtime->opens_apart, 1, memory_order_relaxed);
    callback_end(actor);
    return status;
}

int incarnation_start(struct actor *actor)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;
    int status = 0;

    actor->memory = make_state(behaviour);
    if (!actor->memory)
        return WEIR_ENOMEM;
    demand_reset(actor);
    if (actor->place)
        actor->place->unsent_due_ns = 0;
    if (behaviour->open)
        status = call_behaviour(actor);
    if (status != 0) {
        incarnation_free_state(actor);
        end_ext(actor);
        children_stop(actor);
    }
    if (status > 0) {
        misuse_report(actor, MISUSE_OPENED, status);
        status = WEIR_EINVALID;
    }
    return status;
}

/* --- closing -------------------------------------------------------------------------------- */

static void call_close(struct actor *actor, enum weir_end_reason reason)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;

    if (behaviour->close) {
        actor->flags |= ACTOR_CLOSING;
        callback_begin(actor, NOTE_CLOSE);
        behaviour->close(&actor->self, actor->memory, (int)reason);
        callback_end(actor);
        actor->flags &= (uint8_t)~ACTOR_CLOSING;
    }
}

/* Releases the spec that `open` got, and tells the owner. */
static void closed(struct place *place)
{
    spec_unref(place->opened_with);
    place->opened_with = NULL;
    if (place->owner && place->owner->ops->closed)
        place->owner->ops->closed(place);
}

/* Ends the incarnation and everything that belongs to it, but not the place. */
static void finish_life(struct actor *actor, enum weir_end_reason reason)
{
    if (actor->place)
        place_shut(actor->place, executor_look_at_clock(actor->executor));
    if (actor->memory) {
        call_close(actor, reason);
        incarnation_free_state(actor);
        if (actor->place)
            closed(actor->place);
    }
    end_ext(actor);
    children_stop(actor);
    link_notify_all(actor, reason, 0);
}

/* A lease has ended with the incarnation: what was sent under it does not begin again. */
static bool may_begin_again(const struct actor *actor, const struct message *message)
{
    const uint32_t failures = message_failures(&message->public);

    return !(message->public.reserved & MESSAGE_LEASED) && failures < MESSAGE_FAILURES_MAX &&
           failures < actor->spec->redeliver_max;
}

/* Settles a message that the ended incarnation had: appended to `again` for redelivery, or dead. */
static void give_again(struct actor *actor, struct message *message, enum dead_reason reason,
                       struct message_queue *again)
{
    message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
    if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER) {
        settle_outside_ledger(actor, message, WEIR_ECRASHED, reason);
    } else if (may_begin_again(actor, message)) {
        message_count_attempt(&message->public);
        message->public.reserved += MESSAGE_FAILURE;
        settle_hold(actor);
        message_queue_append(again, message);
    } else {
        settle_dead(actor, message, reason, WEIR_ECRASHED);
    }
}

/* Settles the current, kept and stashed messages. Redelivered ones precede all others, in the order
 * in which they were begun. `kept`: the reason if a kept or stashed message is dead. */
static void settle_in_hand(struct actor *actor, enum dead_reason kept)
{
    struct message_list had = kept_take_all(actor);
    struct message_queue again = { 0 };
    struct message *message;

    actor->flags &= (uint8_t)~ACTOR_FAILS;
    stash_empty(actor, &had);
    if (actor->current)
        message_list_append(&had, actor->current);
    actor->current = NULL;
    while ((message = message_list_take(&had)))
        give_again(actor, message, message->public.reserved & MESSAGE_KEPT ? kept : DEAD_CRASHED,
                   &again);
    front_prepend_all(actor, &again);
}

void incarnation_close(struct actor *actor, enum weir_end_reason reason)
{
    bool failed = reason == WEIR_END_CRASH || reason == WEIR_END_KILL;

    if (actor->kept.count > 0 && reason == WEIR_END_NORMAL) /* the behaviour chose to end */
        misuse_report(actor, MISUSE_FORGOTTEN, actor->kept.count);
    lease_drop(actor, failed);
    settle_in_hand(actor, failed ? DEAD_CRASHED : DEAD_KEPT);
    finish_life(actor, reason);
}

void incarnation_close_for_restart(struct actor *actor)
{
    (void)stash_give(actor, UINT32_MAX);
    lease_drop(actor, false);
    settle_in_hand(actor, DEAD_CRASHED);
    finish_life(actor, WEIR_END_SHUTDOWN);
}

void incarnation_respec(struct actor *actor, struct spec *spec)
{
    struct spec *old = actor->spec;

    actor->spec = spec;
    if (actor_state(actor) == ACTOR_STOPPED) {
        actor->place->backoff = (struct backoff){ 0 };
        lifecycle_apply(actor, LIFE_AGAIN);
    }
    if (actor->memory && spec->behaviour->reconfigure) {
        callback_begin(actor, NOTE_RECONFIGURE);
        spec->behaviour->reconfigure(&actor->self, actor->memory, spec->settings);
        callback_end(actor);
    }
    /* The settings that `open` got stay readable until `close`. */
    if (actor->memory && !actor->place->opened_with)
        actor->place->opened_with = old;
    else
        spec_unref(old);
}
