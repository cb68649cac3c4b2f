/* SPDX-License-Identifier: MIT */
#include "actor/host_table_events.h"

#include "actor/audience.h"
#include "actor/callback.h"
#include "actor/events.h"
#include "actor/runtime.h"

int host_event(struct weir_self *self, const char *name, uint64_t *out_event)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : audience_own(actor, name, out_event);

    callback_leave_host(actor);
    return status;
}

int host_subscribe(struct weir_self *self, const char *name)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : audience_join(actor, name);

    callback_leave_host(actor);
    return status;
}

int host_unsubscribe(struct weir_self *self, const char *name)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : audience_leave(actor, name);

    callback_leave_host(actor);
    return status;
}

int host_publish(struct weir_self *self, uint64_t event, struct weir_message *message,
                 uint32_t *out_taken, uint32_t *out_refused)
{
    struct actor *actor = callback_enter_host(self);
    int status;

    message->from = actor_pid(actor);
    status = callback_is_left(actor) ? WEIR_ETERMINATED
                                     : events_publish(actor->runtime, actor->executor, event,
                                                      message_of(message), out_taken, out_refused);
    callback_leave_host(actor);
    return status;
}
