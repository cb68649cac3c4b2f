/* SPDX-License-Identifier: MIT */
/*
 * actor/events.h - named events: one owner, which alone has the token, and any number of
 * subscribers.
 *
 * A name exists from its first owner or subscriber to its last. The owner, and every actor that it
 * gives the token to, publishes: each subscriber gets the event in its normal lane, as a message of
 * its own, or refuses it. SIGNAL_AUDIENCE, which needs no memory, notifies the owner when the first
 * subscriber has joined and when the last one has left.
 *
 *                  | publish | subscribe unsubscribe register forget news
 *   publish        |    -    |                  -                       any threads at once;
 *   subscribe ...  |    -    |                  -                       changes one by one, by lock
 *
 * All calls inside a read section.
 */
#ifndef ACTOR_EVENTS_H
#define ACTOR_EVENTS_H

#include "actor/event.h"
#include "face/parts.h"
#include "message/message.h"

struct executor;
struct runtime;

/* With this bit, which no slot's number has, the PID of a pool names its manager: the events of a
 * manager are not those of its pool. */
#define EVENTS_MANAGER ((weir_pid)1 << 31)

void events_init(struct events *events);
void events_finish(struct events *events);

/* Makes a PID the owner of an event. WEIR_EEXISTS (it has one), WEIR_EINVALID (the name),
 * WEIR_ENOMEM. Borrows the name. */
int events_register(struct runtime *runtime, struct executor *executor, const char *name,
                    weir_pid owner, uint64_t *out_token);

/* 0 also when it is a subscriber already; then sets `fan_out`. `fan_out`: every worker of a pool
 * gets the event. WEIR_EINVALID, WEIR_ENOMEM. */
int events_subscribe(struct runtime *runtime, struct executor *executor, const char *name,
                     weir_pid pid, bool fan_out);

/* WEIR_EUNKNOWN: it is no subscriber. */
int events_unsubscribe(struct runtime *runtime, struct executor *executor, const char *name,
                       weir_pid pid);

/* Takes the message on 0; returns how many receivers took it and how many refused.
 * WEIR_EUNKNOWN. */
int events_publish(struct runtime *runtime, struct executor *executor, uint64_t token,
                   struct message *message, uint32_t *out_taken, uint32_t *out_refused);

/* Removes the events and subscriptions of a PID. Cannot fail. */
void events_forget(struct runtime *runtime, struct executor *executor, weir_pid pid);

/*
 * Changes the subscriptions of a PID in two steps: first reserves one more name in each call,
 * invisibly; then events_replace makes all changes at once. 0 also when it is a subscriber already.
 * WEIR_EINVALID, WEIR_ENOMEM.
 */
int events_reserve(struct runtime *runtime, struct executor *executor, const char *name,
                   weir_pid pid);
/* The PID gets exactly these events from now on; each of them was reserved before. Cannot fail. */
void events_replace(struct runtime *runtime, struct executor *executor, weir_pid pid,
                    const char *const *names, size_t count, bool fan_out);
/* Undoes the reservations. Cannot fail. */
void events_unreserve(struct runtime *runtime, struct executor *executor, weir_pid pid);

/* The number of events that a PID gets. */
uint32_t events_subscribed(struct runtime *runtime, weir_pid pid);

/* The next event of an owner whose audience has begun or ended since the owner was notified; false:
 * none. */
bool events_news(struct runtime *runtime, weir_pid owner, uint64_t *out_token,
                 uint32_t *out_subscribers);

#endif
