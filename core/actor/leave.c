/* SPDX-License-Identifier: MIT */
#include "actor/leave.h"

#include <sysexits.h>

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/callback.h"
#include "actor/children.h"
#include "actor/demand.h"
#include "actor/end.h"
#include "actor/hand_back.h"
#include "actor/lease.h"
#include "actor/lifecycle.h"
#include "actor/origin.h"
#include "actor/output.h"
#include "actor/place.h"
#include "actor/room_queue.h"
#include "actor/runtime.h"

/* Arms the deadline that came with the order to leave. 0: there is none. */
static void set_deadline(struct actor *actor, uint64_t due_ns)
{
    actor->place->leave_due_ns = due_ns;
    if (due_ns && actor_ext_get(actor))
        actor_ext_arm(actor, due_ns);
}

/* Makes the shared queue dead that the actor has to finish. */
static void discard_queue(struct actor *actor, bool as_removed)
{
    const struct owner *owner = place_owner(actor);

    if (owner && owner->ops->discard)
        owner->ops->discard(actor->place, as_removed);
}

/* The time to leave is over. */
static void end_time(struct actor *actor)
{
    actor->place->leave_due_ns = 0;
    leave_begin(actor, LEAVING_OVER, WEIR_END_SHUTDOWN);
    backlog_reroute(actor);
    backlog_discard(actor, DEAD_REMOVED, WEIR_EREMOVED);
    discard_queue(actor, false);
    /* Relaxed: set before the order that ends the time. */
    backlog_discard_kept(actor,
                         !atomic_load_explicit(&actor->place->is_cut_short, memory_order_relaxed));
    origin_forget_all(actor);
    children_stop(actor);
}

uint64_t leave_time(struct actor *actor, uint64_t now_ns)
{
    uint64_t due = actor->place ? actor->place->leave_due_ns : 0;

    if (due == 0 || !actor->leaving)
        return TIMER_NEVER;
    if (due > now_ns)
        return due;
    end_time(actor);
    return TIMER_NEVER;
}

/* Whether the owner has ordered the actor to leave; `otherwise` for an owner without `is_leaving`.
 * */
static bool is_ordered_to_leave(const struct actor *actor, uint64_t *out_due_ns, bool otherwise)
{
    const struct owner *owner = place_owner(actor);

    return owner && owner->ops->is_leaving ? owner->ops->is_leaving(actor->place, out_due_ns)
                                           : otherwise;
}

/* A pause holds neither the source nor its children any more. */
static void end_pause(struct actor *source)
{
    wiring_set_pause(source->place->wiring, WIRING_LEAVES, true);
    children_look_again(source->place, source->executor);
}

void leave_begin(struct actor *actor, enum actor_leaving leaving, enum weir_end_reason reason)
{
    if (!actor->leaving) {
        actor->end_reason = (uint8_t)reason;
        if (actor->kind == ACTOR_SOURCE)
            end_pause(actor);
    }
    if (leaving > actor->leaving)
        actor->leaving = (uint8_t)leaving;
    actor_disturb(actor);
}

static enum actor_leaving leaving_of(uint32_t signals)
{
    if (signals & SIGNAL_DISCARD)
        return LEAVING_DISCARDS;
    return signals & SIGNAL_REROUTE ? LEAVING_REROUTES : LEAVING_FINISHES;
}

/* The actor was recalled: it is a member as before. */
static void stay(struct actor *actor)
{
    actor->leaving = LEAVING_NOT;
    actor->place->leave_due_ns = actor->place->room_pause_ns = 0;
    if (actor_state(actor) == ACTOR_OPEN)
        actor->place->owner->ops->opened(actor->place);
    room_queue_wake(actor, UINT32_MAX, actor->executor);
}

static bool has_backlog(struct actor *actor)
{
    return !backlog_is_empty(actor) || place_keeps_queue(actor);
}

/* An actor in its back-off opens at once to finish what it has accepted, and what no other member
 * takes: its time to leave may end before its pause. After further failures it pauses as usual. */
static void end_back_off(struct actor *actor)
{
    if (actor_state(actor) != ACTOR_WAITING || actor->leaving >= LEAVING_DISCARDS)
        return;
    backlog_reroute(actor);
    if (has_backlog(actor))
        lifecycle_apply(actor, LIFE_DUE);
}

void leave_obey(struct actor *actor, uint32_t signals)
{
    /* For actors other than pools, KILL is a separate order. */
    bool is_killed = actor->kind == ACTOR_POOL && (signals & SIGNAL_KILL);
    bool is_first = !actor->leaving;
    uint64_t due_ns = 0;

    if (!is_ordered_to_leave(actor, &due_ns, (signals & SIGNAL_STAY) == 0)) {
        stay(actor);
        return;
    }
    leave_begin(actor, leaving_of(signals), is_killed ? WEIR_END_KILL : WEIR_END_SHUTDOWN);
    if (place_member_of(actor)) {
        set_deadline(actor, due_ns);
        if (actor->leaving != LEAVING_DISCARDS)
            hand_back_all(actor);
    } else {
        mailbox_close(&actor->mailbox);
        room_queue_wake(actor, UINT32_MAX, actor->executor);
    }
    if (is_first && !is_killed)
        end_back_off(actor);
}

static bool asks_for_time(struct actor *actor)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;
    int answer;

    if (!behaviour->leave)
        return false;
    callback_begin(actor, NOTE_LEAVE);
    answer = behaviour->leave(&actor->self, actor->memory);
    callback_end(actor);
    return answer == WEIR_WAIT;
}

/* True while a leaving source still has requests to answer. */
static bool has_to_answer(struct actor *actor)
{
    return actor->kind == ACTOR_SOURCE && asks_for_time(actor);
}

/* True while a worker that has finished, and cannot be recalled, waits for something outside. */
static bool has_to_wait(struct actor *actor)
{
    if (actor->kind == ACTOR_SOURCE || actor->leaving == LEAVING_OVER)
        return false;
    leave_begin(actor, LEAVING_CLOSES, WEIR_END_SHUTDOWN);
    return asks_for_time(actor);
}

/* A worker that takes no message now, or keeps some, and whose pool ends: what it waits for may
 * never come. Its messages are dead as soon as its `leave` says so. */
static void give_up(struct actor *actor)
{
    const struct owner *owner = place_owner(actor);
    bool waits = actor->kept.count > 0 || (!backlog_is_empty(actor) && demand_of(actor) == 0);

    if (!waits || actor->leaving == LEAVING_OVER || !owner || !owner->ops->ends ||
        !(actor->spec->behaviour->flags & WEIR_GIVES_UP) || !owner->ops->ends(actor->place) ||
        asks_for_time(actor))
        return;
    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, place_subject(actor),
              "gives up what it waits with", weir_uint("kept", actor->kept.count),
              weir_str("effect", "its messages are dead"));
    runtime_raise_exit_status(actor->runtime, EX_TEMPFAIL);
    /* Relaxed: its own turns read it. It is no misuse to have kept these messages. */
    atomic_store_explicit(&actor->place->is_cut_short, true, memory_order_relaxed);
    end_time(actor);
}

static bool has_work_in_hand(struct actor *actor)
{
    return actor->kept.count || lease_of(actor) || output_is_waiting(actor) ||
           origin_is_open(actor);
}

/* The actor's backlog is empty, or it has failed and `leaves_queue` to other members. True: it ends
 * now. False: the pool has recalled it, or closes and needs it to finish the shared queue. */
static bool may_close(struct actor *actor, bool leaves_queue)
{
    const struct owner *owner = place_owner(actor);

    if (!owner || !owner->ops->may_close || owner->ops->may_close(actor->place, leaves_queue))
        return true;
    leave_obey(actor, SIGNAL_STAY);
    return false;
}

void leave_shed(struct actor *actor)
{
    if (actor->leaving < LEAVING_DISCARDS || actor->leaving == LEAVING_CLOSES)
        return;
    backlog_discard(actor, DEAD_REMOVED, WEIR_EREMOVED);
    /* Only when the whole pool is removed: otherwise other members take from its queue. */
    discard_queue(actor, true);
}

bool leave_after_failure(struct actor *actor, enum weir_end_reason reason)
{
    if (is_ordered_to_leave(actor, NULL, false)) {
        backlog_reroute(actor);
        if (reason != WEIR_END_KILL && has_backlog(actor))
            return false;
    }
    if (!may_close(actor, reason == WEIR_END_KILL))
        return false;
    backlog_discard(actor, DEAD_REMOVED, WEIR_EREMOVED);
    end_actor(actor, reason, END_FLUSHED);
    return true;
}

bool leave_opens_again(struct actor *actor)
{
    return actor->spec && actor->place && actor_state(actor) == ACTOR_STARTING &&
           actor->end_reason != WEIR_END_KILL && !children_are_alive(actor) && has_backlog(actor);
}

/* Between two incarnations. False: the member waits for its pause, since it has messages for which
 * others have no room, or since no other finishes the shared queue. Others have no time-out, so
 * they have opened once more, in vain. */
static bool leave_unopened(struct actor *actor)
{
    bool is_paused = actor_state(actor) == ACTOR_WAITING && place_member_of(actor);

    backlog_reroute(actor);
    if (is_paused && !backlog_is_empty(actor))
        return false;
    backlog_discard(actor, DEAD_REMOVED, WEIR_EREMOVED);
    if (may_close(actor, actor_state(actor) != ACTOR_STARTING)) {
        end_actor(actor, (enum weir_end_reason)actor->end_reason, END_FLUSHED);
        return true;
    }
    return !is_paused || !actor->leaving;
}

bool leave_step(struct actor *actor)
{
    bool answers;

    if (actor->kind == ACTOR_POOL) { /* its members have ended */
        end_actor(actor, (enum weir_end_reason)actor->end_reason, END_FLUSHED);
        return true;
    }
    if (actor_state(actor) != ACTOR_OPEN)
        return !children_are_alive(actor) && leave_unopened(actor);
    give_up(actor);
    answers = has_to_answer(actor); /* first: `leave` may settle kept messages */
    if (answers || !backlog_is_empty(actor) || has_work_in_hand(actor))
        return false;
    /* The pool closed after the actor had checked the shared queue. The actor now helps to finish
     * it, and checks again at once, since no thread would wake it. */
    if (actor->leaving != LEAVING_CLOSES && place_keeps_queue(actor))
        return true;
    if (children_drain(actor))
        return false;
    if (actor->leaving != LEAVING_CLOSES && !may_close(actor, false))
        return true;
    if (has_to_wait(actor))
        return false;
    end_actor(actor, (enum weir_end_reason)actor->end_reason, END_FLUSHED);
    return true;
}
