/*
 * actor/events.h - named events: one owner, who alone knows the token, and any number of those who
 * subscribe.
 *
 * A name is there as soon as somebody wants it, owner or subscriber, and goes with the last of
 * them. The owner, and whoever it gives the token to, publishes: each subscriber gets the event in
 * its normal lane, as a message of its own, or refuses it. The owner is told by SIGNAL_AUDIENCE,
 * which needs no memory, when the first subscriber has come and when the last one has gone.
 *
 *                  | publish | subscribe unsubscribe register forget news
 *   publish        |    -    |                  -                       any threads at once;
 *   subscribe ...  |    -    |                  -                       changes one by one, by lock
 *
 * All of them inside a read section.
 */
#ifndef ACTOR_EVENTS_H
#define ACTOR_EVENTS_H

#include <pthread.h>

#include "base/table.h"
#include "message/message.h"

struct executor;
struct runtime;
struct event;

#define EVENTS_BUCKETS 256 /* a power of two: a token's low bits say which */
#define EVENTS_NAME_MAX 127

struct events {
    pthread_mutex_t lock;
    uint64_t last_token;                             /* lock */
    struct table participants;                       /* lock: who owns or subscribes; event.h */
    struct table subscribers;                        /* lock: of all events */
    _Atomic(struct event *) buckets[EVENTS_BUCKETS]; /* written under lock, read by all */
};

void events_init(struct events *events);
void events_finish(struct events *events);

/* Makes a PID the owner of an event. WEIR_EEXISTS (it has one), WEIR_EINVALID (the name),
 * WEIR_ENOMEM. Borrows the name. */
int events_register(struct runtime *runtime, struct executor *executor, const char *name,
                    weir_pid owner, uint64_t *out_token);

/* 0 also when it had subscribed; then `fan_out` counts from now on. `fan_out`: of a pool, every
 * worker gets it. WEIR_EINVALID, WEIR_ENOMEM. */
int events_subscribe(struct runtime *runtime, struct executor *executor, const char *name,
                     weir_pid pid, bool fan_out);

/* WEIR_EUNKNOWN: it had not subscribed. */
int events_unsubscribe(struct runtime *runtime, struct executor *executor, const char *name,
                       weir_pid pid);

/* Takes the message on 0, and says how many took it and how many refused. WEIR_EUNKNOWN. */
int events_publish(struct runtime *runtime, struct executor *executor, uint64_t token,
                   struct message *message, uint32_t *out_taken, uint32_t *out_refused);

/* A PID neither owns nor subscribes anything any more. Cannot fail. */
void events_forget(struct runtime *runtime, struct executor *executor, weir_pid pid);

/*
 * A change of what a PID subscribes, in two steps: first room for one more name each, of which
 * nobody sees anything; then all of it at once. 0 also when it has subscribed to the name.
 * WEIR_EINVALID, WEIR_ENOMEM.
 */
int events_reserve(struct runtime *runtime, struct executor *executor, const char *name,
                   weir_pid pid);
/* From now on it gets these events, each of them reserved before, and no others. Cannot fail. */
void events_replace(struct runtime *runtime, struct executor *executor, weir_pid pid,
                    const char *const *names, size_t count, bool fan_out);
/* Or gives back what it has reserved. Cannot fail. */
void events_unreserve(struct runtime *runtime, struct executor *executor, weir_pid pid);

/* How many events a PID gets. */
uint32_t events_subscribed(struct runtime *runtime, weir_pid pid);

/* The next of an owner's events whose audience has come or gone since it was told; false: none. */
bool events_news(struct runtime *runtime, weir_pid owner, uint64_t *out_token,
                 uint32_t *out_subscribers);

#endif
