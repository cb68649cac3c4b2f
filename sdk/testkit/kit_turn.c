/* SPDX-License-Identifier: MIT */
#include "kit_turn.h"

#include <stdlib.h>

#include "kit_due.h"
#include "kit_message.h"

bool kit_turn_can_run(struct weir_kit *kit, bool has_callback, const char *callback)
{
    if (!kit->is_open)
        kit_problem(kit, "the test asked for %s, and the worker is not open", callback);
    else if (!has_callback)
        kit_problem(kit, "the test asked for %s, which the behaviour has not", callback);
    return kit->is_open && has_callback;
}

void kit_turn_begin(struct weir_kit *kit)
{
    kit->reason[0] = '\0';
    kit->retry_ms = 0;
    kit->outbox = 0;
}

/* The continuation may make, and cancel, further requests. */
void kit_turn_answer(struct weir_kit *kit, struct kit_due *due, int status,
                     const struct weir_message *message)
{
    struct weir_reply reply = {
        .reference = due->number, .status = status, .message = message, .detail = ""
    };
    weir_then *then = due->then;
    void *context = due->context;

    free(due);
    if (then)
        then(&kit->self, kit->state, context, &reply);
}

void kit_turn_end(struct weir_kit *kit)
{
    struct kit_due *due;

    while ((due = kit_due_take_cancelled(kit)))
        kit_turn_answer(kit, due, WEIR_ECANCELLED, NULL);
}

int kit_turn_handle(struct weir_kit *kit, struct kit_message *message)
{
    int verdict;

    kit_turn_begin(kit);
    kit->in_hand = message;
    verdict = kit->behaviour.handle(&kit->self, kit->state, &message->message);
    kit_message_settle(kit, message, verdict);
    kit_turn_end(kit);
    return verdict;
}
