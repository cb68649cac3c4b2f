/* SPDX-License-Identifier: MIT */
#include "actor/restart.h"

#include <inttypes.h>
#include <stdio.h>

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/end.h"
#include "actor/incarnation.h"
#include "actor/lease.h"
#include "actor/leave.h"
#include "actor/lifecycle.h"
#include "actor/place.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"

#define NS_PER_MS 1000000u
#define EFFECT_SIZE 48 /* `opens again in 3.2s`, of any 64 bits */

static void keep_out(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    if (owner && owner->ops->failed)
        owner->ops->failed(actor->place);
    else
        mailbox_close(&actor->mailbox);
}

/* Waits for the pause; the siblings get the backlog. */
static void wait_to_open(struct actor *actor, uint64_t pause_ms)
{
    struct place *place = actor->place;

    /* A reader that sees the state WAITING also sees the time. */
    place->reopen_ns = executor_look_at_clock(actor->executor) + pause_ms * NS_PER_MS;
    lifecycle_apply(actor, LIFE_PAUSED);
    keep_out(actor);
    /* When memory for the timer is out, the actor tries again in its next turn. */
    if (actor_ext_get(actor))
        actor_ext_arm(actor, place->reopen_ns);
    else
        lifecycle_apply(actor, LIFE_DUE);
    backlog_reroute(actor);
}

uint64_t restart_time(struct actor *actor, uint64_t now_ns)
{
    if (actor_state(actor) != ACTOR_WAITING)
        return TIMER_NEVER;
    if (actor->place->reopen_ns > now_ns)
        return actor->place->reopen_ns;
    lifecycle_apply(actor, LIFE_DUE);
    return TIMER_NEVER;
}

/* The level that decides when the actor escalates. */
static enum appeal appeal_of(const struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    return owner && owner->ops->appeal ? owner->ops->appeal(actor->place) : APPEAL_PROGRAM;
}

bool restart_is_on_trial(const struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    return !owner || !owner->ops->appeal || appeal_of(actor) == APPEAL_NOBODY;
}

static void escalate(struct actor *actor, enum appeal appeal)
{
    if (appeal == APPEAL_ABOVE)
        actor->place->owner->ops->escalate(actor->place);
    else if (appeal == APPEAL_PROGRAM)
        runtime_escalate(actor->runtime);
}

static void notify_stopped(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    if (owner && owner->ops->stopped)
        owner->ops->stopped(actor->place);
    if (actor->place->gives_notice)
        runtime_notice(actor->runtime);
}

/* Leaves the actor closed: its backlog goes to members with room or becomes dead, so that no
 * requester waits for nothing. The actor shows that it has stopped after it has closed, so that a
 * thread that sees it stopped cannot send to it; senders that wait for room look after that. */
static void stay_closed(struct actor *actor, bool escalates)
{
    static const char *const effects[] = {
        [APPEAL_NOBODY] = "stopped until a reload or `weir restart`",
        [APPEAL_ABOVE] = "stopped; the pool above decides",
        [APPEAL_PROGRAM] = "stopped, and the program is to end",
    };
    enum appeal appeal = escalates ? appeal_of(actor) : APPEAL_NOBODY;

    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, place_path(actor),
              "worker fails too often", weir_uint("failures", actor->place->backoff.failures),
              weir_str("effect", effects[appeal]));
    keep_out(actor);
    backlog_reroute(actor);
    backlog_discard_all(actor, DEAD_STOPPED, WEIR_ECRASHED);
    lifecycle_apply(actor, LIFE_GIVEN_UP);
    notify_stopped(actor);
    room_queue_wake(actor, UINT32_MAX, actor->executor);
    escalate(actor, appeal);
}

/* Up to a fifth less, so that workers which failed together do not return together. */
static uint64_t spread(struct actor *actor, uint64_t pause_ms)
{
    return pause_ms - pause_ms / 5 * (executor_random(actor->executor) % 256) / 256;
}

struct backoff_decision restart_decide(struct actor *actor, bool was_open)
{
    struct restart restart = actor->spec->restart;
    struct backoff_decision decision;

    /* An actor that a reload may still undo does not escalate: the reload is refused. */
    if (restart.then == WEIR_RESTART_ESCALATE && appeal_of(actor) == APPEAL_NOBODY)
        restart.then = WEIR_RESTART_KEEP_TRYING;
    decision = backoff_decide(&actor->place->backoff, &restart, was_open,
                              executor_look_at_clock(actor->executor));
    decision.pause_ms = spread(actor, decision.pause_ms);
    return decision;
}

void restart_carry_out(struct actor *actor, struct backoff_decision decision)
{
    if (decision.answer == BACKOFF_PAUSE)
        wait_to_open(actor, decision.pause_ms);
    else if (decision.answer != BACKOFF_AT_ONCE)
        stay_closed(actor, decision.answer == BACKOFF_ESCALATE);
}

/* --- another incarnation ------------------------------------------------------------------- */

/* How the log says it, such as `opens again in 3.2s`. Writes to `text`, or returns another one. */
static const char *effect_of(struct backoff_decision decision, char text[EFFECT_SIZE])
{
    const uint64_t tenths = decision.pause_ms / 100;

    if (decision.answer == BACKOFF_AT_ONCE)
        return "replaced";
    if (decision.answer != BACKOFF_PAUSE)
        return "stopped, its mailbox is handed on or dead";
    if (decision.pause_ms < 1000)
        (void)snprintf(text, EFFECT_SIZE, "opens again in %" PRIu64 "ms", decision.pause_ms);
    else
        (void)snprintf(text, EFFECT_SIZE, "opens again in %" PRIu64 ".%" PRIu64 "s", tenths / 10,
                       tenths % 10);
    return text;
}

static void log_failure(const struct actor *actor, const char *effect)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_WARNING, place_path(actor), "worker failed",
              weir_str("reason", actor_ext_detail(actor)),
              weir_uint("incarnation", actor->incarnation), weir_str("effect", effect));
}

void restart_after_failure(struct actor *actor, enum weir_end_reason reason)
{
    struct backoff_decision decision;
    char effect[EFFECT_SIZE];

    if (!place_is_renewed(actor)) {
        log_failure(actor, "ended");
        end_actor(actor, reason, END_FLUSHED);
        return;
    }
    decision = restart_decide(actor, true);
    log_failure(actor, effect_of(decision, effect));
    incarnation_close(actor, reason);
    actor_ext_clear_detail(actor);
    if (actor->leaving && leave_after_failure(actor, reason))
        return;
    lifecycle_apply(actor, LIFE_FAILED);
    restart_carry_out(actor, decision);
}

void restart_at_once(struct actor *actor, enum weir_end_reason reason)
{
    if (!place_is_renewed(actor)) {
        end_actor(actor, reason, END_FLUSHED);
        return;
    }
    if (actor_state(actor) == ACTOR_OPEN && reason == WEIR_END_SHUTDOWN)
        incarnation_close_for_restart(actor);
    else if (actor_state(actor) == ACTOR_OPEN)
        incarnation_close(actor, reason);
    actor_ext_clear_detail(actor);
    lifecycle_apply(actor, LIFE_AGAIN);
}

/* --- by order of the owner ------------------------------------------------------------------ */

/* True while an actor that was asked to restart keeps messages, or is leased. */
static bool waits_for_kept(const struct actor *actor)
{
    return actor_state(actor) == ACTOR_OPEN && (actor->kept.count > 0 || lease_of(actor)) &&
           atomic_load_explicit(&actor->place->renewal, memory_order_relaxed) == RENEWAL_ASKED;
}

bool restart_obey(struct actor *actor)
{
    bool was_open = actor_state(actor) == ACTOR_OPEN;
    uint64_t pause_ms;

    if (actor_state(actor) == ACTOR_CLOSED || waits_for_kept(actor) ||
        !actor->place->owner->ops->restart(actor->place, &pause_ms))
        return false;
    actor->place->backoff = (struct backoff){ 0 };
    if (was_open || pause_ms == 0)
        restart_at_once(actor, WEIR_END_SHUTDOWN);
    else
        wait_to_open(actor, pause_ms);
    return true;
}
