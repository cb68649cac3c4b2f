/*
 * weir/event.h - named events, which their owner publishes to all subscribers.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too. A pool subscribes
 * in YAML by `subscribe: [name]`; one worker gets each event, or with `fan_out: true` every worker.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include "host.h"

/*
 * Makes this incarnation the owner of the event of this name, until its end. weir_publish needs the
 * number in `out_event`; other actors may use it too. The behaviour's `audience` is called when
 * there is a first subscriber, also one that subscribed before, and when the last one has gone.
 * WEIR_EEXISTS: it has an owner. WEIR_EINVALID: the name is empty, or longer than 127 bytes.
 */
static inline int weir_event(struct weir_self *self, const char *name, uint64_t *out_event)
{
    return self->host->event(self, name, out_event);
}

/*
 * Subscribes this incarnation: it gets each event of this name once, as a message of kind
 * WEIR_EVENT in its normal lane. The event need not have an owner yet. 0 also when it had
 * subscribed before.
 */
static inline int weir_subscribe(struct weir_self *self, const char *name)
{
    return self->host->subscribe(self, name);
}

/* Ends the subscription; events in the mailbox stay there. WEIR_EUNKNOWN: there is no
 * subscription. */
static inline int weir_unsubscribe(struct weir_self *self, const char *name)
{
    return self->host->unsubscribe(self, name);
}

/*
 * Sends each subscriber a copy of the message, and counts how many accepted it and how many had no
 * room or were not open. Takes the message on 0, also when there are no subscribers. Either pointer
 * may be NULL. WEIR_EUNKNOWN: the event has no owner. WEIR_EINVALID: the message has an origin.
 */
static inline int weir_publish(struct weir_self *self, uint64_t event, struct weir_message *message,
                               uint32_t *out_taken, uint32_t *out_refused)
{
    return self->host->publish(self, event, message, out_taken, out_refused);
}

#endif
