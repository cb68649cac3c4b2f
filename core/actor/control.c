/* SPDX-License-Identifier: MIT */
#include "actor/control.h"

#include "actor/actor_ext.h"
#include "actor/audience.h"
#include "actor/callback.h"
#include "actor/children.h"
#include "actor/due.h"
#include "actor/end.h"
#include "actor/handling.h"
#include "actor/incarnation.h"
#include "actor/inspect.h"
#include "actor/lease_turn.h"
#include "actor/leave.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/newcomer.h"
#include "actor/origin.h"
#include "actor/place.h"
#include "actor/port.h"
#include "actor/request.h"
#include "actor/restart.h"
#include "actor/router.h"
#include "actor/watched.h"
#include "message/control_queue.h"

static void sort(struct actor *actor, struct message *message)
{
    bool is_work = message->public.kind <= WEIR_EVENT;

    message->public.reserved |= MESSAGE_OUTSIDE_LEDGER;
    if (!is_work)
        message_queue_append(&actor->control, message);
    else if (message->public.lane == WEIR_URGENT)
        message_queue_append(&actor->urgent, message);
    else
        message_queue_append(&actor->high, message);
}

/* True while callbacks may be called. */
static bool is_alive(const struct actor *actor)
{
    return actor->spec && actor_state(actor) == ACTOR_OPEN;
}

/* Replaces the behaviour of a pool's manager; `spec` may be NULL. Takes `spec`. */
static void change_manager(struct actor *actor, struct spec *spec)
{
    struct spec *former = spec;

    if (actor_state(actor) != ACTOR_CLOSED) {
        restart_at_once(actor, WEIR_END_REPLACED);
        actor->place->backoff = (struct backoff){ 0 };
        former = actor->spec;
        actor->spec = spec;
    }
    spec_unref(former);
}

static void respec(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);
    struct spec *spec;

    if (!owner || !owner->ops->take_spec || !owner->ops->take_spec(actor->place, &spec))
        return;
    if (actor->kind == ACTOR_POOL)
        change_manager(actor, spec);
    else
        incarnation_respec(actor, spec);
}

/* After SIGNAL_WORK: waits for old members, or gives messages to other members of its pool if
 * place->gives is set; also between two incarnations. */
static void share_backlog(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);
    enum actor_state state = actor_state(actor);

    newcomer_begin(actor);
    if (owner && owner->ops->give && state != ACTOR_CLOSED && state != ACTOR_ENDED)
        owner->ops->give(actor->place);
}

/* Calls `reopen` of the behaviour, then signals the actor's children to do the same. */
static void reopen(struct actor *actor)
{
    if (actor->spec->behaviour->reopen) {
        callback_begin(actor, NOTE_REOPEN);
        actor->spec->behaviour->reopen(&actor->self, actor->memory);
        callback_end(actor);
    }
    children_reopen(actor);
}

/* The control messages are handled first, so a link that was made before the kill gets its
 * WEIR_EXIT. */
static void kill_actor(struct actor *actor)
{
    enum actor_state state = actor_state(actor);

    if (!message_queue_is_empty(&actor->control))
        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_KILL);
    else if (state == ACTOR_OPEN)
        restart_after_failure(actor, WEIR_END_KILL);
    else if (state != ACTOR_CLOSED && !place_is_renewed(actor))
        end_actor(actor, WEIR_END_KILL, END_NOW); /* no other incarnation follows */
}

/* Returns the number of timers' callbacks. */
static uint32_t obey(struct actor *actor, uint32_t signals)
{
    uint32_t callbacks = 0;

    if (signals & SIGNAL_STOP) {
        end_actor(actor, signals & SIGNAL_KILL ? WEIR_END_KILL : WEIR_END_SHUTDOWN, END_NOW);
        return 0;
    }
    if (signals & (SIGNAL_DRAIN | SIGNAL_STAY | SIGNAL_SHUTDOWN))
        leave_obey(actor, signals);
    if (signals & SIGNAL_RESPEC)
        respec(actor);
    if ((signals & SIGNAL_REOPEN) && is_alive(actor))
        reopen(actor);
    if ((signals & SIGNAL_AUDIENCE) && is_alive(actor))
        audience_notify(actor);
    if (signals & SIGNAL_WORK)
        share_backlog(actor);
    if (signals & SIGNAL_TIME) {
        actor->flags &= (uint8_t)~ACTOR_WAITS;
        callbacks = due_run(actor);
        if (actor->router)
            actor->router->ops->time(actor->router, actor->executor);
    }
    if ((signals & SIGNAL_KILL) && actor->kind != ACTOR_POOL)
        kill_actor(actor);
    if ((signals & SIGNAL_SHUTDOWN) && is_alive(actor) && place_member_of(actor) && !actor->leaving)
        restart_at_once(actor, WEIR_END_NORMAL); /* its place is restarted by its pool */
    if ((signals & SIGNAL_CRASH) && actor_state(actor) == ACTOR_OPEN)
        restart_after_failure(actor, WEIR_END_CRASH);
    return callbacks;
}

uint32_t control_take(struct actor *actor)
{
    uint32_t signals;
    struct message *message;

    actor_disturb(actor);
    /* Before the take: a call that comes with something later is not cleared. */
    atomic_store_explicit(&actor->called, false, memory_order_relaxed);
    message = control_queue_take(&actor->mailbox, &signals);
    while (message) {
        struct message *next = atomic_load_explicit(&message->next, memory_order_relaxed);

        sort(actor, message);
        message = next;
    }
    return signals ? obey(actor, signals) : 0;
}

static void linked_ended(struct actor *actor, struct message *message)
{
    const struct weir_end *end = message->public.data;
    enum weir_end_reason reason = (enum weir_end_reason)end->reason;

    if ((actor->flags & ACTOR_TRAPS_EXITS) && is_alive(actor)) {
        handling_run(actor, message);
        return;
    }
    message_destroy(&actor->executor->cache, message);
    if (reason == WEIR_END_NORMAL || reason == WEIR_END_REPLACED)
        return;
    if (is_alive(actor))
        restart_after_failure(actor, reason);
}

/* A WEIR_EXIT or WEIR_DOWN: handled only while its link or monitor exists; WEIR_DOWN only by an
 * open actor. */
static void end_notice_arrived(struct actor *actor, struct message *message)
{
    bool is_current = link_is_current(actor, message);

    if (is_current && message->public.kind == WEIR_EXIT)
        linked_ended(actor, message);
    else if (is_current && !lease_holder_ended(actor, message) && is_alive(actor))
        handling_run(actor, message);
    else
        message_destroy(&actor->executor->cache, message);
}

void control_handle(struct actor *actor, struct message *message)
{
    switch (message->public.kind) {
    case MESSAGE_REPLY:
        request_arrived(actor, message);
        break;
    case WEIR_EXIT:
    case WEIR_DOWN:
        end_notice_arrived(actor, message);
        break;
    case MESSAGE_PORT_REPLY:
    case MESSAGE_PORT_SETTLE:
        port_arrived(actor, message);
        break;
    case MESSAGE_READY:
        watched_arrived(actor, message);
        break;
    case MESSAGE_SETTLED:
        origin_arrived(actor, message);
        break;
    case MESSAGE_INSPECT:
        inspect_arrived(actor, message);
        break;
    default:
        link_arrived(actor, message);
    }
}
