/* SPDX-License-Identifier: MIT */
#include "actor/audience.h"

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/events.h"
#include "actor/runtime.h"

int audience_own(struct actor *actor, const char *name, uint64_t *out_event)
{
    struct actor_ext *ext = actor_ext_get(actor);
    int status;

    if (!ext)
        return WEIR_ENOMEM;
    status = events_register(actor->runtime, actor->executor, name, audience_id(actor), out_event);
    ext->has_events |= status == 0;
    return status;
}

int audience_join(struct actor *actor, const char *name)
{
    struct actor_ext *ext = actor_ext_get(actor);
    int status;

    if (!ext)
        return WEIR_ENOMEM;
    status = events_subscribe(actor->runtime, actor->executor, name, audience_id(actor), false);
    ext->has_events |= status == 0;
    return status;
}

int audience_leave(struct actor *actor, const char *name)
{
    return events_unsubscribe(actor->runtime, actor->executor, name, audience_id(actor));
}

void audience_notify(struct actor *actor)
{
    const struct weir_behaviour *behaviour = actor->spec->behaviour;
    uint32_t subscribers;
    uint64_t event;

    if (!behaviour->audience)
        return;
    while (events_news(actor->runtime, audience_id(actor), &event, &subscribers)) {
        callback_begin(actor, NOTE_AUDIENCE);
        behaviour->audience(&actor->self, actor->memory, event, subscribers);
        callback_end(actor);
    }
}
