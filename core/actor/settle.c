#include "actor/settle.h"

#include "actor/place.h"
#include "actor/request.h"

struct message *settle_pop(struct actor *actor)
{
    struct message *message;

    ledger_begin(&actor->ledger);
    message = mailbox_pop(&actor->mailbox);
    if (message)
        ledger_shift(&actor->ledger.in_hand, 1);
    ledger_end(&actor->ledger);
    return message;
}

/* Takes the message: either it becomes the requester's answer, or it is freed. */
static void answer_or_free(struct actor *actor, struct message *message, int status)
{
    struct executor *executor = actor->executor;

    if (message->public.kind == WEIR_REQUEST && !(message->public.reserved & MESSAGE_ANSWERED))
        request_answer(actor->runtime, executor, message, status, actor->detail);
    else
        message_destroy(&executor->cache, message);
}

void settle_done(struct actor *actor, struct message *message)
{
    ledger_begin(&actor->ledger);
    ledger_shift(&actor->ledger.in_hand, -1);
    ledger_add(&actor->ledger.done, 1);
    ledger_end(&actor->ledger);
    answer_or_free(actor, message, WEIR_ENOREPLY);
}

void settle_record(struct actor *actor, const struct message *message, enum dead_reason reason,
                   const struct dead_letter_way *way, const char *detail)
{
    const struct dead_letter_way to_actor = { actor_pid(actor), DEAD_LETTER_DIRECT };

    if (!actor->place || !actor->place->dead)
        return;
    if (!way && (!actor->place->pool || (message->public.reserved & MESSAGE_ASIDE)))
        way = &to_actor;
    dead_letters_add(actor->place->dead, message, way, reason, detail, actor->executor->now_ns);
}

void settle_dead(struct actor *actor, struct message *message, enum dead_reason reason, int status)
{
    settle_record(actor, message, reason, NULL, actor->detail);
    ledger_begin(&actor->ledger);
    ledger_shift(&actor->ledger.in_hand, -1);
    ledger_add(&actor->ledger.dead, 1);
    ledger_end(&actor->ledger);
    answer_or_free(actor, message, status);
}

void settle_moved(struct actor *actor)
{
    ledger_begin(&actor->ledger);
    ledger_shift(&actor->ledger.in_hand, -1);
    ledger_add(&actor->ledger.moved, 1);
    ledger_end(&actor->ledger);
}

void settle_forwarded(struct actor *actor)
{
    ledger_begin(&actor->ledger);
    ledger_shift(&actor->ledger.in_hand, -1);
    ledger_add(&actor->ledger.done, 1);
    ledger_end(&actor->ledger);
}

void settle_hold(struct actor *actor)
{
    ledger_begin(&actor->ledger);
    ledger_shift(&actor->ledger.in_hand, -1);
    ledger_shift(&actor->ledger.held, 1);
    ledger_end(&actor->ledger);
}

void settle_unhold(struct actor *actor)
{
    ledger_begin(&actor->ledger);
    ledger_shift(&actor->ledger.held, -1);
    ledger_shift(&actor->ledger.in_hand, 1);
    ledger_end(&actor->ledger);
}

void settle_aside(struct actor *actor, struct message *message, int status, enum dead_reason reason)
{
    if (status != 0)
        settle_record(actor, message, reason, NULL, actor->detail);
    answer_or_free(actor, message, status ? status : WEIR_ENOREPLY);
}

void settle_stray(struct runtime *runtime, struct executor *executor, struct message *message,
                  int status)
{
    if (message->public.kind == WEIR_REQUEST && !(message->public.reserved & MESSAGE_ANSWERED))
        request_answer(runtime, executor, message, status, "");
    else
        message_destroy(&executor->cache, message);
}
