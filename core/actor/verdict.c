/* SPDX-License-Identifier: MIT */
#include "actor/verdict.h"

#include "actor/backlog.h"
#include "actor/kept.h"
#include "actor/misuse.h"

void verdict_hold_for_outbox(struct actor *actor, struct message *message)
{
    settle_hold(actor);
    place_outbox(actor->place)->settling = message;
}

void verdict_unhandled(struct actor *actor, struct message *message)
{
    settle_outside_ledger(actor, message, WEIR_EREJECTED, DEAD_UNHANDLED);
}

static void finish_rejected(struct actor *actor, struct message *message)
{
    if (actor->kind == ACTOR_POOL)
        verdict_unhandled(actor, message);
    else if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        settle_outside_ledger(actor, message, WEIR_EREJECTED, DEAD_REJECTED);
    else
        settle_dead(actor, message, DEAD_REJECTED, WEIR_EREJECTED);
}

void verdict_finish(struct actor *actor, struct message *message, int verdict)
{
    if (verdict == WEIR_DONE)
        verdict_done(actor, message);
    else if (verdict == WEIR_KEEP)
        kept_add(actor, message);
    else if (verdict == WEIR_RETRY && !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER))
        backlog_retry(actor, message);
    else if (verdict == WEIR_POSTPONE && !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER))
        backlog_postpone(actor, message);
    else
        finish_rejected(actor, message);
}

int verdict_settle_kept(struct actor *actor, struct message *message, int verdict)
{
    if (!verdict_settles(verdict)) {
        misuse_report(actor, MISUSE_UNSETTLED, verdict);
        return WEIR_EINVALID;
    }
    if (!kept_has(actor, message)) {
        if (!(actor->flags & ACTOR_CLOSING))
            misuse_report(actor, MISUSE_SETTLED, verdict);
        return WEIR_EINVALID;
    }
    message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
    if (verdict == WEIR_FAIL) { /* it ends with the incarnation, after the present callback */
        actor->flags |= ACTOR_FAILS;
        return 0;
    }
    kept_remove(actor, message);
    if (verdict == WEIR_DONE && !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER))
        settle_done(actor, message);
    else
        verdict_finish(actor, message, verdict);
    return 0;
}

void verdict_kept_done(struct actor *actor)
{
    struct message *message;

    if (actor->flags & ACTOR_FAILS)
        return; /* they end with the incarnation */
    while ((message = kept_take(actor))) {
        message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
        if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
            verdict_finish(actor, message, WEIR_DONE);
        else
            settle_done(actor, message);
    }
}
