/* SPDX-License-Identifier: MIT */
#include "actor/origin.h"

#include "actor/callback.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "message/join.h"

/* Of a notice, beside the results of weir/delivery.h: a thread has freed the message, and `settled`
 * is not called. */
#define NEVER_SENT (WEIR_OUTCOME_DEAD + 1)

/* True when the message's origin is the present incarnation of this actor. */
static bool is_ours(struct actor *actor, const struct message *message)
{
    return actor->ext && (message->public.reserved & MESSAGE_ORIGIN) &&
           message->origin == actor_pid(actor) && message->origin_life == actor->ext->life;
}

int origin_set(struct actor *actor, struct message *message, uint64_t token)
{
    if (!actor->spec->behaviour->settled || (message->public.reserved & MESSAGE_JOINED))
        return WEIR_EINVALID;
    if (!actor_ext_get(actor))
        return WEIR_ENOMEM;
    if (!is_ours(actor, message))
        actor->ext->origins_open++;
    message->public.reserved |= MESSAGE_ORIGIN;
    message->token = token;
    message->origin = actor_pid(actor);
    message->origin_life = actor->ext->life;
    return 0;
}

int origin_join(struct message *message, struct message *with)
{
    int status = 0;

    if (!(with->public.reserved & MESSAGE_JOINED))
        status = join_begin(with, message_label(with), message_identity(with));
    if (status == 0)
        join_add(message, with);
    return status;
}

/* The key of the notice of a dead message says whether its dead letter is stored. */
static void send_off(struct runtime *runtime, struct executor *executor, struct message *notice)
{
    if (send_control(runtime, executor, notice->origin, notice) == 0)
        return;
    /* Relaxed: a figure for people. */
    atomic_fetch_add_explicit(&runtime->late_notices, 1, memory_order_relaxed);
    message_destroy(&executor->cache, notice);
}

static struct message *make_notice(struct executor *executor, struct message *message,
                                   const struct settlement *settlement)
{
    message = message_say(&executor->cache, message, settlement->detail);
    message->public.kind = MESSAGE_SETTLED;
    message->public.lane = (uint8_t)settlement->result;
    message->public.key = settlement->delay_ms;
    message->reason = settlement->reason;
    return message;
}

void origin_notify(struct runtime *runtime, struct executor *executor, struct message *message,
                   const struct settlement *settlement)
{
    bool is_stored = false;

    message = make_notice(executor, message, settlement);
    if (settlement->record &&
        storing_hold(&runtime->storing, message, settlement->record, &is_stored))
        return;
    if (is_stored)
        message->public.key = 1;
    send_off(runtime, executor, message);
}

/* The message leaves its join. */
static void leave(struct runtime *runtime, struct executor *executor, struct message *message,
                  const char *detail)
{
    struct join_result all;
    struct settlement whole = { .result = WEIR_OUTCOME_DONE, .detail = detail };

    if (!join_end(message, &all)) {
        message_destroy(&executor->cache, message);
        return;
    }
    if (all.is_dead)
        whole = (struct settlement){ .result = WEIR_OUTCOME_DEAD,
                                     .reason = (enum dead_reason)all.reason,
                                     .detail = all.detail };
    message = make_notice(executor, message, &whole);
    message->public.key = all.is_dead && all.is_stored;
    send_off(runtime, executor, message);
}

void origin_leave(struct runtime *runtime, struct executor *executor, struct message *message,
                  const struct settlement *settlement)
{
    bool is_stored = false;

    if (settlement->result == WEIR_OUTCOME_DEAD) {
        join_fail(message, settlement->reason, settlement->detail);
        if (settlement->record &&
            storing_hold(&runtime->storing, message, settlement->record, &is_stored))
            return;
        if (!is_stored)
            join_lose(message);
    }
    leave(runtime, executor, message, settlement->detail);
}

void origin_stored(struct runtime *runtime, struct executor *executor, struct message *message,
                   bool is_stored)
{
    if (message->public.reserved & MESSAGE_JOINED) {
        if (!is_stored)
            join_lose(message);
        leave(runtime, executor, message, "");
        return;
    }
    message->public.key = is_stored;
    send_off(runtime, executor, message);
}

static void notify_origin(struct actor *actor, const struct message *notice)
{
    const bool is_dead = notice->public.lane == WEIR_OUTCOME_DEAD;
    const struct weir_outcome outcome = {
        .token = notice->token,
        .result = notice->public.lane,
        .attempt = notice->public.attempt,
        .delay_ms = is_dead ? 0 : notice->public.key,
        .reason = is_dead ? dead_reason_name((enum dead_reason)notice->reason) : "",
        .detail = notice->public.size ? notice->public.data : "",
        .is_stored = is_dead && notice->public.key == 1,
    };

    callback_begin(actor, NOTE_SETTLED);
    actor->spec->behaviour->settled(&actor->self, actor->memory, &outcome);
    callback_end(actor);
}

void origin_arrived(struct actor *actor, struct message *notice)
{
    if (is_ours(actor, notice)) {
        if (actor->ext->origins_open > 0)
            actor->ext->origins_open--;
        actor->flags &= (uint8_t)~ACTOR_WAITS;
        if (notice->public.lane != NEVER_SENT)
            notify_origin(actor, notice);
    } else {
        atomic_fetch_add_explicit(&actor->runtime->late_notices, 1, memory_order_relaxed);
    }
    message_destroy(&actor->executor->cache, notice);
}

void origin_free(struct runtime *runtime, struct executor *executor, struct message *message)
{
    const struct settlement done = { .result = WEIR_OUTCOME_DONE, .detail = "" };
    const struct settlement never_sent = { .result = NEVER_SENT, .detail = "" };

    if (message->public.reserved & MESSAGE_JOINED)
        origin_leave(runtime, executor, message, &done);
    else if (message->public.reserved & MESSAGE_ORIGIN)
        origin_notify(runtime, executor, message, &never_sent);
    else
        message_destroy(&executor->cache, message);
}

void origin_discard(struct actor *actor, struct message *message)
{
    if (message && (message->public.reserved & MESSAGE_JOINED)) {
        origin_free(actor->runtime, actor->executor, message);
        return;
    }
    if (message && is_ours(actor, message) && actor->ext->origins_open > 0)
        actor->ext->origins_open--;
    message_destroy(&actor->executor->cache, message);
}

void origin_forget_all(struct actor *actor)
{
    if (actor->ext)
        actor->ext->origins_open = 0;
}
