/* SPDX-License-Identifier: MIT */
/*
 * weir/event.h - named events, which their owner publishes to all subscribers.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply. A pool
 * subscribes in YAML with `subscribe: [name]`. One worker of the pool gets each event; with
 * `fan_out: true` every worker gets it.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include "host.h"

/*
 * Makes this incarnation the owner of the event with this name, until the incarnation ends.
 * weir_publish needs the number in `out_event`; other actors may use this number too. The host
 * calls the behaviour's `audience` for the first subscriber, also for one that subscribed earlier,
 * and after the last subscriber has left. WEIR_EEXISTS: the event has an owner. WEIR_EINVALID: the
 * name is empty, or longer than 127 bytes. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_event(struct weir_self *self, const char *name, uint64_t *out_event)
{
    return self->host->event(self, name, out_event);
}

/*
 * Subscribes this incarnation: it gets each event of this name once, as a message of kind
 * WEIR_EVENT in its normal lane. A pool's manager gets it itself, in the lane WEIR_HIGH; the events
 * in the pool's `subscribe` go to its workers. The event need not have an owner yet. 0 also when
 * the incarnation is subscribed already. WEIR_EINVALID: the name is empty, or longer than 127
 * bytes. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_subscribe(struct weir_self *self, const char *name)
{
    return self->host->subscribe(self, name);
}

/* Ends the subscription. Events that are in the mailbox stay there. WEIR_EUNKNOWN: this incarnation
 * is not subscribed. WEIR_EINVALID: the name is empty, or longer than 127 bytes. */
WEIR_INLINE int weir_unsubscribe(struct weir_self *self, const char *name)
{
    return self->host->unsubscribe(self, name);
}

/*
 * Sends a copy of the message to each subscriber. Takes the message on 0, also when there is no
 * subscriber. `out_taken` is the number of receivers that accepted a copy; `out_refused` is the
 * number of those that had no room or were not open. Either pointer may be NULL. WEIR_EUNKNOWN: the
 * event has no owner. WEIR_EINVALID: the message has an origin.
 */
WEIR_INLINE int weir_publish(struct weir_self *self, uint64_t event, struct weir_message *message,
                             uint32_t *out_taken, uint32_t *out_refused)
{
    return self->host->publish(self, event, message, out_taken, out_refused);
}

#endif
