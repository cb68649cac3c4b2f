/*
 * weir/event.h - named events: published by their owner, to whoever subscribes.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too. A pool subscribes
 * in YAML: `subscribe: [name]`, and with `fan_out: true` every worker gets each event, else one.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include "host.h"

/*
 * Makes this incarnation the owner of the event of this name, until its end. The number given back
 * is what publishing needs; it may be given to others. The behaviour's `audience` is told when the
 * first subscriber has come, also one that was here before, and when the last one has gone.
 * WEIR_EEXISTS: it has an owner. WEIR_EINVALID: the name is empty, or longer than 127 bytes.
 */
static inline int weir_event(struct weir_self *self, const char *name, uint64_t *out_event)
{
    return self->host->event(self, name, out_event);
}

/*
 * From now on this incarnation gets each event of this name once, as a message of kind WEIR_EVENT
 * in its normal lane. The event need not have an owner yet. 0 also when it had subscribed before.
 */
static inline int weir_subscribe(struct weir_self *self, const char *name)
{
    return self->host->subscribe(self, name);
}

/* Takes that back; what is in the mailbox stays there. WEIR_EUNKNOWN: it had not subscribed. */
static inline int weir_unsubscribe(struct weir_self *self, const char *name)
{
    return self->host->unsubscribe(self, name);
}

/*
 * Gives each subscriber a copy of the message, and says how many took it and how many had no room
 * or were not open. Takes it on 0, also when nobody has subscribed. Either pointer may be NULL.
 * WEIR_EUNKNOWN: the event has no owner any more. WEIR_EINVALID: the message has an origin.
 */
static inline int weir_publish(struct weir_self *self, uint64_t event, struct weir_message *message,
                               uint32_t *out_taken, uint32_t *out_refused)
{
    return self->host->publish(self, event, message, out_taken, out_refused);
}

#endif
