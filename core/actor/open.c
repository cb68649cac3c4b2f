/* SPDX-License-Identifier: MIT */
#include "actor/open.h"

#include "actor/actor_ext.h"
#include "actor/end.h"
#include "actor/incarnation.h"
#include "actor/leases.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/progress.h"
#include "actor/restart.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"
#include "actor/source.h"

static void open_alone(struct actor *actor)
{
    if (!actor->leaving)
        mailbox_open(&actor->mailbox);
    if (actor->ext && actor->ext->has_names &&
        (actor->kind != ACTOR_SOURCE || source_is_admitted(actor)))
        names_publish(&actor->runtime->names, actor_pid(actor));
}

static void let_in(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    if (owner && owner->ops->opened)
        owner->ops->opened(actor->place);
    else
        open_alone(actor);
    room_queue_wake(actor, UINT32_MAX, actor->executor);
}

static void publish_opening(struct actor *actor, int status)
{
    struct place *place = actor->place;

    if (!place)
        return;
    atomic_store_explicit(&place->open_status, status, memory_order_relaxed);
    atomic_fetch_add_explicit(&place->opens, 1, memory_order_release);
}

/* An actor that a reload creates has an opener until it is open. */
static const char *effect_of_failed_open(const struct actor *actor)
{
    if (actor->place && actor->place->child)
        return "ended";
    if (actor->place && actor->place->opener)
        return "tried again; unless as many workers as min_ready open in time, the reload is "
               "refused; the running parts go on";
    return "closed until an open succeeds";
}

static void log_failed_open(const struct actor *actor, int status)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, place_path(actor), "open failed",
              weir_str("status", weir_status_name(status)),
              weir_str("reason", actor_ext_detail(actor)),
              weir_str("effect", effect_of_failed_open(actor)));
}

static void has_opened(struct actor *actor)
{
    actor->incarnation++;
    if (actor->place) {
        actor->place->opener = NULL;
        atomic_store_explicit(&actor->place->shut_ns, 0, memory_order_relaxed);
    }
    /* The time at which the actor opened is only needed after a pause. */
    if (actor->place && actor->place->backoff.pause_ms)
        backoff_open(&actor->place->backoff, executor_look_at_clock(actor->executor));
    leases_note_open(actor, NULL);
    /* The mailbox is opened first: another thread that sees the state OPEN may send at once. */
    let_in(actor);
    lifecycle_apply(actor, LIFE_OPENED);
    publish_opening(actor, 0);
}

/* Schedules the next attempt. When memory for a place is out, the next turn tries. */
static void has_not_opened(struct actor *actor, int status)
{
    struct place *place = place_get(actor);

    if (place && place->opener && !restart_is_on_trial(actor))
        place->opener = NULL; /* a reload needs its threads for the workers that it makes */
    log_failed_open(actor, status);
    if (!place)
        return;
    place_keep_open_reason(place, actor_ext_detail(actor));
    leases_note_open(actor, actor_ext_detail(actor));
    publish_opening(actor, status);
    if (place->child)
        return;
    restart_carry_out(actor, restart_decide(actor, false));
}

void open_actor(struct actor *actor)
{
    int status;

    /* Before `open`, which may set them again. */
    actor->flags &= (uint8_t) ~(ACTOR_TRAPS_EXITS | ACTOR_WAITS);
    if (actor->place && actor->kind != ACTOR_SOURCE)
        progress_go_on(actor->place);
    status = incarnation_start(actor);
    if (status == 0)
        has_opened(actor);
    else
        has_not_opened(actor, status);
    if (status != 0 && actor->place && actor->place->child) {
        /* A child is not restarted: its end, with the reason, is sent to all linked and monitoring
         * actors. */
        link_notify_all(actor, WEIR_END_CRASH, status);
        end_actor(actor, WEIR_END_CRASH, END_NOW);
        return;
    }
    if (actor->place && actor->place->gives_notice)
        runtime_notice(actor->runtime);
}
