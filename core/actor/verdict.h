/* SPDX-License-Identifier: MIT */
/*
 * actor/verdict.h - settles a message by the verdict of its worker: at once, or later if the worker
 * has kept it. Verdicts that end the incarnation are in handling.h. Owner's turn only.
 */
#ifndef ACTOR_VERDICT_H
#define ACTOR_VERDICT_H

#include "actor/output.h"
#include "actor/settle.h"

/* True for a verdict that weir_settle takes. */
static inline bool verdict_settles(int verdict)
{
    return (verdict >= WEIR_DONE && verdict <= WEIR_REJECT) || verdict == WEIR_FAIL ||
           verdict == WEIR_POSTPONE;
}

/* Settles the message when the outbox is empty. */
void verdict_hold_for_outbox(struct actor *actor, struct message *message);

/* Settles the message as done. Takes it. */
static inline void verdict_done(struct actor *actor, struct message *message)
{
    if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        settle_outside_ledger(actor, message, 0, DEAD_UNHANDLED);
    else if (output_is_waiting(actor))
        verdict_hold_for_outbox(actor, message);
    else
        settle_done(actor, message);
}

/* Settles the message by a verdict that keeps the incarnation alive. Takes it. */
void verdict_finish(struct actor *actor, struct message *message, int verdict);

/* Answers or drops a pool's own message that its manager does not handle. Takes it. */
void verdict_unhandled(struct actor *actor, struct message *message);

/* As weir_settle: takes a kept message. WEIR_EINVALID: this actor does not keep it, or the verdict
 * is not allowed late. */
int verdict_settle_kept(struct actor *actor, struct message *message, int verdict);

/* Settles all kept messages as done; not when the incarnation fails. */
void verdict_kept_done(struct actor *actor);

#endif
