#include "actor/settle.h"

#include "actor/actor_ext.h"
#include "actor/group.h"
#include "actor/origin.h"
#include "actor/place.h"
#include "actor/request.h"
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
    else
        message_destroy(&executor->cache, message);
}

/* True for a message without requester and origin that holds only its memory. */
static bool ends_plainly(const struct message *message)
{
    return message->public.kind != WEIR_REQUEST &&
           !(message->public.reserved & (MESSAGE_ORIGIN | MESSAGE_HOLDS));
}

__attribute__((noinline)) static void answer_done(struct actor *actor, struct message *message)
{
    const struct settlement done = { .result = WEIR_OUTCOME_DONE,
                                     .detail = actor_ext_detail(actor) };

    answer_or_free(actor->runtime, actor->executor, message, WEIR_ENOREPLY, &done);
}

static inline void end_done(struct actor *actor, struct message *message)
{
    if (ends_plainly(message))
        cache_give(&actor->executor->cache, message);
    else
        answer_done(actor, message);
}

static void end_dead(struct actor *actor, struct message *message, enum dead_reason reason,
                     int status)
{
    const struct settlement dead = { WEIR_OUTCOME_DEAD, reason, 0, actor_ext_detail(actor) };

    answer_or_free(actor->runtime, actor->executor, message, status, &dead);
}

void settle_done(struct actor *actor, struct message *message)
{
    ledger_count(&actor->ledger.done);
    end_done(actor, message);
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

void settle_record(struct actor *actor, const struct message *message, enum dead_reason reason,
                   const struct dead_letter_way *way, const char *detail)
{
    const struct dead_letter_way to_actor = { .to = actor_pid(actor),
                                              .output = DEAD_LETTER_DIRECT };

    if (!actor->place || !actor->place->dead)
        return;
    if (!way && (!place_member_of(actor) ||
                 (message->public.reserved & (MESSAGE_OUTSIDE_LEDGER | MESSAGE_BOUND))))
        way = &to_actor;
    dead_letters_add(actor->place->dead, message, way, reason, detail,
                     executor_time(actor->executor));
    log_dead_letter(actor, message, reason, detail);
}

void settle_dead(struct actor *actor, struct message *message, enum dead_reason reason, int status)
{
    settle_record(actor, message, reason, NULL, actor_ext_detail(actor));
    ledger_count(&actor->ledger.dead);
    end_dead(actor, message, reason, status);
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
    if (status == 0) {
        end_done(actor, message);
        return;
    }
    settle_record(actor, message, reason, NULL, actor_ext_detail(actor));
    end_dead(actor, message, reason, status);
}

void settle_stray(struct runtime *runtime, struct executor *executor, struct message *message,
                  enum dead_reason reason, int status)
{
    const struct settlement dead = { WEIR_OUTCOME_DEAD, reason, 0, "" };

    answer_or_free(runtime, executor, message, status, &dead);
}

void settle_unwanted(struct actor *actor, struct message *message)
{
    end_done(actor, message);
}
