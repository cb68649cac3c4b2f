/* SPDX-License-Identifier: MIT */
#include "actor/settle.h"

#include "actor/actor_ext.h"
#include "actor/dead_store.h"
#include "actor/group.h"
#include "actor/origin.h"
#include "actor/place.h"
#include "actor/printing.h"
#include "actor/request.h"
#include "actor/retry.h"
#include "actor/runtime.h"

void settle_pulled(struct actor *actor)
{
    ledger_count(&actor->ledger.pulled);
}

/* Takes a message with an origin. `status` counts when it is dead. */
static void notify(struct runtime *runtime, struct executor *executor, struct message *message,
                   int status, const struct settlement *settlement)
{
    struct group *group = group_of(message);

    if (!group) {
        origin_notify(runtime, executor, message, settlement);
        return;
    }
    message_destroy(&executor->cache, message);
    group_message_ended(group, executor, settlement->result == WEIR_OUTCOME_DONE ? 0 : status);
}

/* Takes the message: it becomes the requester's answer or the origin's notice, or it is freed. */
static void answer_or_free(struct runtime *runtime, struct executor *executor,
                           struct message *message, int status, const struct settlement *settlement)
{
    bool is_open = message->public.kind == WEIR_REQUEST &&
                   !(message->public.reserved & MESSAGE_ANSWERED);

    if (is_open)
        request_answer(runtime, executor, message, status, settlement->detail);
    else if (message->public.reserved & MESSAGE_ORIGIN)
        notify(runtime, executor, message, status, settlement);
    else if (message->public.reserved & MESSAGE_JOINED)
        origin_leave(runtime, executor, message, settlement);
    else
        message_destroy(&executor->cache, message);
}

void settle_answer_done(struct actor *actor, struct message *message)
{
    const struct settlement done = { .result = WEIR_OUTCOME_DONE,
                                     .detail = actor_ext_detail(actor) };

    answer_or_free(actor->runtime, actor->executor, message, WEIR_ENOREPLY, &done);
}

static void end_dead(struct actor *actor, struct message *message, enum dead_reason reason,
                     int status, uint64_t record)
{
    const struct settlement dead = { WEIR_OUTCOME_DEAD, reason, 0, actor_ext_detail(actor),
                                     record };

    answer_or_free(actor->runtime, actor->executor, message, status, &dead);
}

static void log_dead_letter(const struct actor *actor, const struct message *message,
                            enum dead_reason reason, const char *detail)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_WARNING, place_subject(actor),
              dead_reason_event(reason), weir_str("reason", dead_reason_name(reason)),
              weir_str("detail", detail), weir_str("tag", message_tag_name(message)),
              weir_uint("worker", actor->place->index),
              weir_uint("attempt", message->public.attempt));
}

/* A worker whose awaited dead letters fill the store waits. */
static uint64_t store(struct actor *actor, const struct message *message,
                      const struct dead_letter_way *way, enum dead_reason reason,
                      const char *detail)
{
    uint64_t record = dead_store_append(actor->runtime, message, actor_pid(actor),
                                        place_subject(actor), way, reason, detail);

    if (record && origin_is_followed(message))
        printing_store(actor);
    return record;
}

uint64_t settle_record(struct actor *actor, const struct message *message, enum dead_reason reason,
                       const struct dead_letter_way *way, const char *detail)
{
    const struct dead_letter_way to_actor = {
        .to = actor_pid(actor),
        .output = DEAD_LETTER_DIRECT,
        .is_leased = message->public.reserved & MESSAGE_LEASED,
    };
    char text[DEAD_LETTER_DETAIL];
    uint64_t record;

    if (!actor->place || !actor->place->dead)
        return 0;
    detail = dead_letters_detail(message, detail, text);
    if (detail == text) /* with a label */
        log_conceal(&actor->runtime->options.log, text, sizeof text);
    if (!way && (!place_member_of(actor) || message_is_for_one(message) ||
                 (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)))
        way = &to_actor;
    record = store(actor, message, way, reason, detail);
    dead_letters_add(actor->place->dead, message, way, reason, detail, record,
                     executor_time(actor->executor));
    log_dead_letter(actor, message, reason, detail);
    return record;
}

void settle_dead(struct actor *actor, struct message *message, enum dead_reason reason, int status)
{
    uint64_t record = settle_record(actor, message, reason, NULL, actor_ext_detail(actor));

    ledger_count(&actor->ledger.dead);
    end_dead(actor, message, reason, status, record);
}

void settle_moved(struct actor *actor)
{
    ledger_count(&actor->ledger.moved);
}

void settle_returned(struct actor *actor, struct message *message, uint64_t delay_ms)
{
    const struct settlement again = { .result = WEIR_OUTCOME_RETRY,
                                      .delay_ms = delay_ms,
                                      .detail = actor_ext_detail(actor) };

    /* Failures of workers are no tries of the message; and one more fits in the field. */
    message->public.attempt = (uint16_t)retry_number(&message->public);
    if (message->public.attempt == UINT16_MAX)
        message->public.attempt--;
    settle_moved(actor);
    origin_notify(actor->runtime, actor->executor, message, &again);
}

void settle_forwarded(struct actor *actor)
{
    ledger_count(&actor->ledger.done);
}

void settle_hold(struct actor *actor)
{
    ledger_count(&actor->ledger.put_by);
}

void settle_unhold(struct actor *actor)
{
    ledger_count(&actor->ledger.resumed);
}

void settle_outside_ledger(struct actor *actor, struct message *message, int status,
                           enum dead_reason reason)
{
    uint64_t record;

    if (status == 0) {
        settle_end_done(actor, message);
        return;
    }
    record = settle_record(actor, message, reason, NULL, actor_ext_detail(actor));
    end_dead(actor, message, reason, status, record);
}

void settle_stray(struct runtime *runtime, struct executor *executor, struct message *message,
                  enum dead_reason reason, int status, uint64_t record)
{
    const struct settlement dead = { WEIR_OUTCOME_DEAD, reason, 0, "", record };

    answer_or_free(runtime, executor, message, status, &dead);
}

void settle_copied(struct runtime *runtime, struct executor *executor, struct message *message)
{
    const struct settlement done = { .result = WEIR_OUTCOME_DONE, .detail = "" };

    answer_or_free(runtime, executor, message, 0, &done);
}

void settle_take(struct actor *actor, struct message *take, int status)
{
    settle_moved(actor);
    settle_stray(actor->runtime, actor->executor, take, DEAD_REMOVED, status, 0);
}

void settle_unwanted(struct actor *actor, struct message *message)
{
    settle_end_done(actor, message);
}
