#include "actor/handling.h"

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/callback.h"
#include "actor/incarnation.h"
#include "actor/kept.h"
#include "actor/misuse.h"
#include "actor/output.h"
#include "actor/runtime.h"
#include "actor/settle.h"

static void hold_for_outbox(struct actor *actor, struct message *message)
{
    settle_hold(actor);
    actor->place->settling = message;
}

static void finish_done(struct actor *actor, struct message *message)
{
    if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        settle_outside_ledger(actor, message, 0, DEAD_UNHANDLED);
    else if (output_is_waiting(actor))
        hold_for_outbox(actor, message);
    else
        settle_done(actor, message);
}

void handling_unhandled(struct actor *actor, struct message *message)
{
    settle_outside_ledger(actor, message, WEIR_EREJECTED, DEAD_UNHANDLED);
}

static void finish_rejected(struct actor *actor, struct message *message)
{
    if (actor->kind == ACTOR_POOL)
        handling_unhandled(actor, message);
    else if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        settle_outside_ledger(actor, message, WEIR_EREJECTED, DEAD_REJECTED);
    else
        settle_dead(actor, message, DEAD_REJECTED, WEIR_EREJECTED);
}

/* Settles the current message by a verdict that keeps the incarnation alive. */
static void finish_message(struct actor *actor, struct message *message, int verdict)
{
    if (verdict == WEIR_DONE)
        finish_done(actor, message);
    else if (verdict == WEIR_KEEP)
        kept_add(actor, message);
    else if (verdict == WEIR_RETRY && !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER))
        backlog_retry(actor, message);
    else
        finish_rejected(actor, message);
}

int handling_settle_kept(struct actor *actor, struct message *message, int verdict)
{
    if (verdict < WEIR_DONE || verdict > WEIR_REJECT) {
        misuse_report(actor, MISUSE_UNSETTLED, verdict);
        return WEIR_EINVALID;
    }
    /* Compares addresses first: the message may be freed, in `close` or because it was settled
     * before. */
    if (!message_list_remove(&actor->kept, message)) {
        if (!(actor->flags & ACTOR_CLOSING))
            misuse_report(actor, MISUSE_SETTLED, verdict);
        return WEIR_EINVALID;
    }
    message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
    if (verdict == WEIR_DONE && !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER))
        settle_done(actor, message);
    else
        finish_message(actor, message, verdict);
    return 0;
}

/* Carries out any other verdict than DONE; out of line, as it is rare. */
__attribute__((noinline)) static void finish_other(struct actor *actor, int verdict)
{
    struct message *message = actor->current;

    if (verdict == WEIR_STOP || verdict < WEIR_DONE || verdict >= WEIR_FAIL) {
        if (verdict == WEIR_STOP) {
            actor->current = NULL;
            if (message)
                finish_done(actor, message);
            incarnation_replace(actor, WEIR_END_NORMAL);
        } else {
            if (verdict != WEIR_FAIL)
                misuse_report(actor, MISUSE_VERDICT, verdict);
            incarnation_fail(actor, WEIR_END_CRASH);
        }
        return;
    }
    actor->current = NULL;
    if (message)
        finish_message(actor, message, verdict);
}

/* Carries out the verdict of `handle`. `current` is NULL when the message was forwarded. */
static void finish(struct actor *actor, int verdict)
{
    struct message *message = actor->current;

    if (verdict != WEIR_DONE) {
        finish_other(actor, verdict);
        return;
    }
    actor->current = NULL;
    if (message)
        finish_done(actor, message);
}

void handling_run(struct actor *actor, struct message *message)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;
    int verdict = WEIR_REJECT;

    actor->current = message;
    actor->retry_after_ms = 0;
    actor_ext_clear_detail(actor);
    atomic_store_explicit(&actor->busy, 1, memory_order_relaxed);
    if (behaviour->handle) {
        callback_begin_with(actor, message->public.tag);
        verdict = behaviour->handle(&actor->self, actor->memory, &message->public);
        callback_end(actor);
    }
    actor->flags &= (uint8_t)~ACTOR_WAITS;
    atomic_store_explicit(&actor->busy, 0, memory_order_relaxed);
    finish(actor, verdict);
}
