/* SPDX-License-Identifier: MIT */
#include "actor/producing.h"

#include <sysexits.h>

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/find.h"
#include "actor/leave.h"
#include "actor/misuse.h"
#include "actor/output.h"
#include "actor/restart.h"
#include "actor/router.h"
#include "actor/runtime.h"
#include "actor/source.h"

#define SCARCE_LOOK_NS 10000000u /* 10 ms between attempts, since freed memory wakes no source */
/* the most messages that one `produce` may return: the outbox holds them if the hint is wrong */
#define CREDIT_MAX 256

/* The pool that it feeds; NULL: it has ended, and messages to it become dead `no_target`. */
static struct router *target_of(struct actor *actor)
{
    const struct wiring *wiring = wiring_get(actor->place->wiring);
    weir_pid pid = wiring ? wiring->bindings[0].target : 0;
    struct router *target = actor_find_router(actor->runtime, pid);

    return target && target->ops->is_closing(target) ? NULL : target;
}

/* The room in the pool that it feeds. When there is none it joins the wait queue, and stays in it
 * until `produce` returns. */
static uint32_t room_in(struct actor *actor, struct router *target)
{
    struct waiter *waiter = &place_outbox(actor->place)->waiter;
    uint32_t room = target->ops->room(target, actor->executor);

    if (room == 0) {
        wait_queue_join(target->waiters, waiter, 1, actor->executor);
        room = target->ops->room(target, actor->executor); /* second check: see wait_queue.h */
    }
    return room;
}

/* It leaves the wait queue: granted places beyond those that it has `used` go to the next waiter.
 * When messages of it wait for room, they keep their position. */
static void leave_queue(struct actor *actor, uint32_t used)
{
    struct waiter *waiter = &place_outbox(actor->place)->waiter;

    if (output_is_waiting(actor))
        return;
    wait_queue_use(waiter, used);
    wait_queue_leave(waiter, actor->executor);
}

/* What it waits for is not room, unless messages of it do. */
static void note_no_wait(struct actor *actor)
{
    if (!output_is_waiting(actor))
        outbox_note_room(place_outbox(actor->place));
}

/* Relaxed: only its turns write it. */
static uint64_t emitted_by(const struct actor *actor)
{
    return atomic_load_explicit(&actor->place->emitted, memory_order_relaxed);
}

/* The messages that it may emit now: those for which there are tokens and room. */
static uint32_t credit_of(struct actor *actor)
{
    struct router *target = target_of(actor);
    uint32_t credit, room;

    outbox_note_room(place_outbox(actor->place));
    if (output_is_paused(actor)) {
        wait_queue_leave(&place_outbox(actor->place)->waiter, actor->executor);
        return 0;
    }
    credit = output_tokens(actor, 0, CREDIT_MAX);
    if (credit == 0 || !target)
        return credit;
    room = room_in(actor, target);
    if (room == 0)
        outbox_note_wait(place_outbox(actor->place), 0);
    return room < credit ? room : credit;
}

/* Passes the position to the behaviour. False: the behaviour refused it. */
static bool hand_over(struct actor *actor, struct source *source)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;

    if (behaviour->resume) {
        callback_begin(actor, NOTE_RESUME);
        behaviour->resume(&actor->self, actor->memory, source->from.data, source->from.size);
        callback_end(actor);
    }
    if (!source->left.lost)
        return true;
    position_clear(&source->left);
    return false;
}

/* Ends the source: without a position it would send messages a second time. */
static void end_without_position(struct actor *actor)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_ERROR, place_path(actor),
              "position of the source is lost",
              weir_str("effect", "it ends unfinished, and does not begin again"));
    runtime_raise_exit_status(actor->runtime, EX_TEMPFAIL);
    leave_begin(actor, LEAVING_FINISHES, WEIR_END_NORMAL);
    mailbox_close(&actor->mailbox);
}

/* Starts at the position of its predecessor: once, before it produces. False: it cannot. */
static bool resume(struct actor *actor, struct source *source)
{
    if (position_is_left(&source->position))
        position_move(&source->from, &source->position);
    if (source->from.lost) {
        end_without_position(actor);
        return false;
    }
    if (!source->from.data)
        return true;
    if (!hand_over(actor, source)) {
        restart_after_failure(actor, WEIR_END_CRASH);
        return false;
    }
    position_clear(&source->from);
    return true;
}

static void exhausted(struct actor *actor)
{
    struct source *source = source_of(actor->place);

    leave_begin(actor, LEAVING_FINISHES, WEIR_END_NORMAL);
    mailbox_close(&actor->mailbox);
    atomic_store_explicit(&source->exhausted, true, memory_order_release);
}

/* Tries again after SCARCE_LOOK_NS. */
static void wait_for_memory(struct actor *actor)
{
    if (actor_ext_get(actor))
        actor_ext_arm(actor, executor_look_at_clock(actor->executor) + SCARCE_LOOK_NS);
}

/* Publishes the names that it registered in an `open` before it was admitted; a later open
 * publishes its own. */
static void show_names(struct actor *actor, struct source *source)
{
    if (source->shown || !source_is_admitted(actor))
        return;
    source->shown = true;
    if (actor->ext && actor->ext->has_names)
        names_publish(&actor->runtime->names, source->pid);
}

static bool has_alarm(const struct actor_ext *ext)
{
    for (uint32_t i = 0; i < ext->alarm_count; i++)
        if (ext->alarms[i].id)
            return true;
    return false;
}

/* False only if no callback can follow. A source with `handle` may get messages from any actor that
 * knows its PID; arrays that were used once count as in use. */
static bool may_be_woken(const struct actor *actor)
{
    const struct actor_ext *ext = actor->ext;

    return actor->spec->behaviour->handle || atomic_load(&actor->place->children) ||
           (ext && (has_alarm(ext) || !table_is_empty(&ext->watched) || ext->pending_count > 0 ||
                    ext->port || ext->origins_open > 0));
}

static bool may_produce(struct actor *actor, struct source *source)
{
    if (actor->leaving || (actor->flags & ACTOR_WAITS) ||
        !atomic_load_explicit(&source->going, memory_order_acquire))
        return false;
    if (!memory_is_scarce(actor->runtime->memory))
        return true;
    wait_for_memory(actor);
    return false;
}

void producing_yield(struct actor *actor)
{
    if (wait_queue_granted(&place_outbox(actor->place)->waiter) > 0)
        leave_queue(actor, 0);
}

bool producing_step(struct actor *actor)
{
    struct source *source = source_of(actor->place);
    uint64_t emitted = emitted_by(actor);
    uint32_t credit, granted;
    int produced;

    show_names(actor, source);
    if (!may_produce(actor, source)) {
        leave_queue(actor, 0);
        note_no_wait(actor);
        return false;
    }
    if (!resume(actor, source))
        return true;
    credit = credit_of(actor);
    if (credit == 0 && !(actor->spec->behaviour->flags & WEIR_ASKING))
        return false;
    granted = wait_queue_granted(&place_outbox(actor->place)->waiter);
    callback_begin(actor, NOTE_PRODUCE);
    produced = actor->spec->behaviour->produce(&actor->self, actor->memory, credit);
    callback_end(actor);
    if (output_is_waiting(actor)) /* what it has gathered */
        (void)output_flush(actor);
    if (credit > 0 || produced < 0)
        leave_queue(actor, emitted_by(actor) > emitted ? granted : 0);
    if (produced == WEIR_END)
        exhausted(actor);
    else if (produced == WEIR_WAIT) {
        actor->flags |= ACTOR_WAITS;
        note_no_wait(actor);
        if (!may_be_woken(actor))
            misuse_report(actor, MISUSE_IDLE, produced);
    } else if (produced != WEIR_MORE) {
        if (produced > WEIR_END)
            misuse_report(actor, MISUSE_PRODUCED, produced);
        else if (!actor_ext_detail(actor)[0])
            actor_ext_set_detail(actor, weir_status_text(produced));
        restart_after_failure(actor, WEIR_END_CRASH);
    }
    return true;
}
