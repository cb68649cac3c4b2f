/* SPDX-License-Identifier: MIT */
#include "actor/kept.h"

#include "actor/actor_ext.h"
#include "actor/place.h"
#include "actor/runtime.h"

#define NS_PER_MS 1000000u

/* 0 = no limit. */
static uint64_t limit_ns(const struct actor *actor)
{
    /* Relaxed: a changed limit is in effect from one of the next checks on. */
    return atomic_load_explicit(&actor->runtime->kept_warning_ns, memory_order_relaxed);
}

void kept_add(struct actor *actor, struct message *message)
{
    uint64_t limit = limit_ns(actor);

    message->public.reserved |= MESSAGE_KEPT;
    message->kept_ns = actor->executor->now_ns;
    message_list_append(&actor->kept, message);
    actor_disturb(actor);
    /* When memory is out, there is no warning. */
    if (limit && actor_ext_get(actor))
        actor_ext_arm(actor, message->kept_ns + limit);
}

bool kept_has(const struct actor *actor, const struct message *message)
{
    return message_list_find(&actor->kept, (uint64_t)(uintptr_t)message) &&
           (message->public.reserved & MESSAGE_KEPT);
}

static void log_kept(const struct actor *actor, const struct message *message, uint64_t kept_for_ns)
{
    log_event(&actor->runtime->options.log, WEIR_LOG_WARNING, place_subject(actor),
              "message is kept for long", weir_uint("ms", kept_for_ns / NS_PER_MS),
              weir_str("plugin", actor->spec->plugin),
              weir_uint("worker", actor->place ? actor->place->index : 0),
              weir_str("tag", message_tag_name(message)), weir_uint("kept", actor->kept.count),
              weir_uint("in_hand_max", actor->spec->in_hand_max),
              weir_str("effect", "in hand until the worker settles it"));
}

/* The list has the order in which they were kept. */
uint64_t kept_time(struct actor *actor, uint64_t now_ns)
{
    struct message *message = message_queue_first(&actor->kept.queue);
    uint64_t limit = limit_ns(actor);

    for (uint32_t i = 0; limit && i < actor->kept.count; i++) {
        if (message->kept_ns != TIMER_NEVER) {
            if (message->kept_ns + limit > now_ns)
                return message->kept_ns + limit;
            log_kept(actor, message, now_ns - message->kept_ns);
            message->kept_ns = TIMER_NEVER; /* reported */
        }
        /* Relaxed: the owner's own list. */
        message = atomic_load_explicit(&message->next, memory_order_relaxed);
    }
    return TIMER_NEVER;
}
