/* SPDX-License-Identifier: MIT */
#include "actor/unwelcome.h"

#include <stdio.h>

#include "actor/actor_ext.h"
#include "actor/lease.h"
#include "actor/settle.h"

static enum dead_reason reason_of(int status)
{
    switch (status) {
    case WEIR_ETIMEOUT:
        return DEAD_EXPIRED;
    case WEIR_EREJECTED:
        return DEAD_POISON;
    default:
        return DEAD_CANCELLED;
    }
}

static void say_crashes(struct actor *actor, const struct message *message)
{
    char detail[ACTOR_DETAIL_SIZE];

    (void)snprintf(detail, sizeof detail, "crashes of the host: %u",
                   spec_crashes_of(actor->spec, message_identity(message)));
    actor_ext_set_detail(actor, detail);
}

void unwelcome_drop(struct actor *actor, struct message *message, int status)
{
    enum dead_reason reason = reason_of(status);

    actor_ext_clear_detail(actor); /* it belongs to an earlier message */
    if (reason == DEAD_POISON)
        say_crashes(actor, message);
    if (message->public.reserved & MESSAGE_TAKE)
        lease_refuse_take(actor, message, status);
    else if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        settle_outside_ledger(actor, message, status, reason);
    else
        settle_dead(actor, message, reason, status);
}

void unwelcome_refuse(struct actor *actor, struct message *message)
{
    if (!message_is_for_one(message)) {
        lease_pass_on(actor, message);
        return;
    }
    if (lease_defers(actor, message))
        return;
    actor_ext_set_detail(actor, message->public.reserved & MESSAGE_LEASED
                                    ? "its lease is over"
                                    : "the worker is leased to another sender");
    if (message->public.attempt > 1) /* it has begun: the worker was replaced before its retry */
        settle_dead(actor, message, DEAD_CRASHED, WEIR_ECRASHED);
    else
        settle_dead(actor, message, DEAD_REJECTED, WEIR_ENOTALLOWED);
}
