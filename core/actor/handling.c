/* SPDX-License-Identifier: MIT */
#include "actor/handling.h"

#include "actor/actor_ext.h"
#include "actor/left_behind.h"
#include "actor/misuse.h"
#include "actor/restart.h"
#include "actor/verdict.h"

/* Carries out any other verdict than DONE; out of line, as it is rare. */
__attribute__((noinline)) static void finish_other(struct actor *actor, int verdict)
{
    struct message *message = actor->current;

    if (verdict == WEIR_STOP || (verdict != WEIR_KEEP && !verdict_settles(verdict)) ||
        verdict == WEIR_FAIL) {
        if (verdict == WEIR_STOP) {
            actor->current = NULL;
            if (message)
                verdict_done(actor, message);
            if (!(actor->flags & ACTOR_FAILS)) /* else the turn ends it as failed */
                restart_at_once(actor, WEIR_END_NORMAL);
        } else {
            if (verdict != WEIR_FAIL)
                misuse_report(actor, MISUSE_VERDICT, verdict);
            restart_after_failure(actor, WEIR_END_CRASH);
        }
        return;
    }
    actor->current = NULL;
    if (message)
        verdict_finish(actor, message, verdict);
}

void handling_finish(struct actor *actor, int verdict)
{
    struct message *message = actor->current;

    if (callback_is_left(actor)) {
        left_behind_end(actor);
        return;
    }
    if (verdict != WEIR_DONE) {
        finish_other(actor, verdict);
        return;
    }
    actor->current = NULL;
    if (message)
        verdict_done(actor, message);
}

void handling_run(struct actor *actor, struct message *message)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;
    int verdict = WEIR_REJECT;

    actor->current = message;
    actor->retry_after_ms = 0;
    actor_ext_clear_detail(actor);
    actor_set_busy(actor, ACTOR_HANDLES);
    if (behaviour->handle) {
        if (behaviour->flush) /* it gathers, and does not wait */
            callback_begin_plain(actor, NOTE_HANDLE, message->public.tag);
        else
            callback_begin_with(actor, NOTE_HANDLE, message->public.tag);
        verdict = behaviour->handle(&actor->self, actor->memory, &message->public);
        callback_end(actor);
    }
    actor->flags &= (uint8_t)~ACTOR_WAITS;
    actor_set_busy(actor, ACTOR_FREE);
    handling_finish(actor, verdict);
}

/* Whether an order to end waits, which a callback before this one may have given with a reason. */
static bool is_to_end(const struct actor *actor)
{
    /* Relaxed: its own callbacks have set it on this thread, or the reason is one of nobody. */
    return atomic_load_explicit(&actor->mailbox.signals, memory_order_relaxed) &
           (SIGNAL_KILL | SIGNAL_CRASH | SIGNAL_SHUTDOWN);
}

void handling_flush(struct actor *actor)
{
    int verdict;

    if (!is_to_end(actor))
        actor_ext_clear_detail(actor); /* it belongs to an earlier message */
    actor->retry_after_ms = 0;
    actor_set_busy(actor, ACTOR_FLUSHES);
    callback_begin_brief(actor, NOTE_FLUSH);
    verdict = actor->spec->behaviour->flush(&actor->self, actor->memory);
    callback_end(actor);
    actor_set_busy(actor, ACTOR_FREE);
    if (verdict == WEIR_DONE) {
        verdict_kept_done(actor);
    } else if (verdict == WEIR_STOP) {
        if (!(actor->flags & ACTOR_FAILS)) /* else the turn ends it as failed */
            restart_at_once(actor, WEIR_END_NORMAL);
    } else if (verdict != WEIR_KEEP) {
        if (verdict != WEIR_FAIL)
            misuse_report(actor, MISUSE_VERDICT, verdict);
        restart_after_failure(actor, WEIR_END_CRASH);
    }
}
