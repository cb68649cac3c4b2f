#include "actor/origin.h"

#include "actor/callback.h"
#include "actor/runtime.h"
#include "actor/send.h"

/* True when the message's origin is the present incarnation of this actor. */
static bool is_ours(struct actor *actor, const struct message *message)
{
    return actor->ext && (message->public.reserved & MESSAGE_ORIGIN) &&
           message->origin == actor_pid(actor) && message->origin_life == actor->ext->life;
}

int origin_set(struct actor *actor, struct message *message, uint64_t token)
{
    if (!actor->spec->behaviour->settled)
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

void origin_notify(struct runtime *runtime, struct executor *executor, struct message *message,
                   const struct settlement *settlement)
{
    message = message_say(&executor->cache, message, settlement->detail);
    message->public.kind = MESSAGE_SETTLED;
    message->public.lane = (uint8_t)settlement->result;
    message->public.key = settlement->delay_ms;
    message->reason = settlement->reason;
    if (send_control(runtime, executor, message->origin, message) == 0)
        return;
    /* Relaxed: a figure for people. */
    atomic_fetch_add_explicit(&runtime->late_notices, 1, memory_order_relaxed);
    message_destroy(&executor->cache, message);
}

static void notify_origin(struct actor *actor, const struct message *notice)
{
    const bool is_dead = notice->public.lane == WEIR_OUTCOME_DEAD;
    const struct weir_outcome outcome = {
        .token = notice->token,
        .result = notice->public.lane,
        .attempt = notice->public.attempt,
        .delay_ms = notice->public.key,
        .reason = is_dead ? dead_reason_name((enum dead_reason)notice->reason) : "",
        .detail = notice->public.size ? notice->public.data : "",
    };

    callback_begin(actor);
    actor->spec->behaviour->settled(&actor->self, actor->memory, &outcome);
    callback_end(actor);
}

void origin_arrived(struct actor *actor, struct message *notice)
{
    if (is_ours(actor, notice)) {
        if (actor->ext->origins_open > 0)
            actor->ext->origins_open--;
        actor->flags &= (uint8_t)~ACTOR_WAITS;
        notify_origin(actor, notice);
    } else {
        atomic_fetch_add_explicit(&actor->runtime->late_notices, 1, memory_order_relaxed);
    }
    message_destroy(&actor->executor->cache, notice);
}

void origin_discard(struct actor *actor, struct message *message)
{
    if (message && is_ours(actor, message) && actor->ext->origins_open > 0)
        actor->ext->origins_open--;
    message_destroy(&actor->executor->cache, message);
}

void origin_forget_all(struct actor *actor)
{
    if (actor->ext)
        actor->ext->origins_open = 0;
}
