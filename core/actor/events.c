/* SPDX-License-Identifier: MIT */
#include "actor/events.h"

#include <stdlib.h>
#include <string.h>

#include "actor/fan_out.h"
#include "actor/find.h"
#include "actor/router.h"
#include "actor/runtime.h"
#include "actor/send.h"

void events_init(struct events *events)
{
    lock_init(&events->lock, LOCK_EVENTS);
    events->last_token = 0;
    events->participants = (struct table){ .only = NULL };
    events->subscribers = (struct table){ .only = NULL };
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++)
        atomic_init(&events->buckets[i], NULL);
}

static void free_participants(struct events *events)
{
    struct table_node *node = table_take_all(&events->participants);

    while (node) {
        struct participant *participant = TABLE_ENTRY(node, struct participant, node);

        node = node->next;
        free(participant);
    }
}

static void free_subscribers(struct events *events)
{
    struct table_node *node = table_take_all(&events->subscribers);

    while (node) {
        struct subscriber *subscriber = TABLE_ENTRY(node, struct subscriber, node);

        node = node->next;
        free(subscriber);
    }
}

void events_finish(struct events *events)
{
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++) {
        struct event *event = atomic_load_explicit(&events->buckets[i], memory_order_relaxed);

        while (event) {
            struct event *next = atomic_load_explicit(&event->next, memory_order_relaxed);

            free(event);
            event = next;
        }
    }
    free_subscribers(events);
    free_participants(events);
    lock_finish(&events->lock);
}

/* --- finding --------------------------------------------------------------------------------- */

/* [E1] pairs with the release in make_locked: an event that is found is complete. */
static struct event *first_of(struct events *events, uint32_t bucket)
{
    return atomic_load_explicit(&events->buckets[bucket], memory_order_acquire);
}

static struct event *next_of(struct event *event)
{
    return atomic_load_explicit(&event->next, memory_order_acquire);
}

static uint32_t bucket_of(const char *name)
{
    return (uint32_t)(weir_key(name, strlen(name)) % EVENTS_BUCKETS);
}

static struct event *find(struct events *events, const char *name)
{
    struct event *event = first_of(events, bucket_of(name));

    while (event && strcmp(event->name, name) != 0)
        event = next_of(event);
    return event;
}

static struct event *find_token(struct events *events, uint64_t token)
{
    struct event *event = token ? first_of(events, (uint32_t)token % EVENTS_BUCKETS) : NULL;

    while (event && atomic_load_explicit(&event->token, memory_order_acquire) != token)
        event = next_of(event);
    return event;
}

/* --- changing -------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t length = name ? strnlen(name, EVENTS_NAME_MAX + 1) : 0;

    return length > 0 && length <= EVENTS_NAME_MAX;
}

/* The event of a name, created if needed; NULL when memory is out. */
static struct event *make_locked(struct events *events, const char *name)
{
    struct event *event = find(events, name);
    _Atomic(struct event *) *bucket;

    if (event)
        return event;
    event = calloc(1, sizeof *event + strlen(name) + 1);
    if (!event)
        return NULL;
    memcpy(event->name, name, strlen(name) + 1);
    event->bucket = bucket_of(name);
    list_init(&event->owned_link);
    list_init(&event->news_link);
    bucket = &events->buckets[event->bucket];
    atomic_store_explicit(&event->next, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(bucket, event, memory_order_release); /* [E1] */
    return event;
}

static void free_retired_event(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct event, retired));
}

/* Frees an event without owner and subscriptions. */
static void drop_if_unused_locked(struct events *events, struct event *event,
                                  struct executor *executor)
{
    _Atomic(struct event *) *link = &events->buckets[event->bucket];

    if (event->owner || event->live || event->reserved)
        return;
    while (atomic_load_explicit(link, memory_order_relaxed) != event)
        link = &atomic_load_explicit(link, memory_order_relaxed)->next;
    atomic_store_explicit(link, next_of(event), memory_order_release);
    event->retired.free = free_retired_event;
    reader_retire(&executor->reader, &event->retired);
}

/* Signals the owner that an audience has begun or ended. */
static void notify_owner_locked(struct runtime *runtime, struct event *event,
                                struct executor *executor)
{
    struct participant *owner = event->owner;
    struct actor *actor = owner ? actor_find(runtime, owner->pid & ~EVENTS_MANAGER) : NULL;

    list_remove(&event->news_link);
    if (!owner || event->notified == (event->live > 0))
        return;
    list_append(&owner->news, &event->news_link);
    if (actor)
        (void)actor_signal(actor, actor_serial_of(owner->pid), executor, SIGNAL_AUDIENCE);
}

static int own_locked(struct events *events, struct event *event, weir_pid pid)
{
    struct participant *owner = participant_get_locked(events, pid);

    if (!owner)
        return WEIR_ENOMEM;
    event->owner = owner;
    event->notified = false;
    list_append(&owner->owned, &event->owned_link);
    atomic_store_explicit(&event->token, ++events->last_token * EVENTS_BUCKETS + event->bucket,
                          memory_order_release);
    return 0;
}

static void disown_locked(struct event *event)
{
    event->owner = NULL;
    list_remove(&event->owned_link);
    list_remove(&event->news_link);
    atomic_store_explicit(&event->token, 0, memory_order_release);
}

int events_register(struct runtime *runtime, struct executor *executor, const char *name,
                    weir_pid owner, uint64_t *out_token)
{
    struct events *events = &runtime->events;
    struct event *event;
    int status;

    if (!is_name(name))
        return WEIR_EINVALID;
    lock_acquire(&events->lock);
    event = make_locked(events, name);
    if (!event)
        status = WEIR_ENOMEM;
    else
        status = event->owner ? WEIR_EEXISTS : own_locked(events, event, owner);
    if (status == 0) {
        *out_token = atomic_load_explicit(&event->token, memory_order_relaxed);
        notify_owner_locked(runtime, event, executor);
    } else if (event) {
        drop_if_unused_locked(events, event, executor);
    }
    lock_release(&events->lock);
    return status;
}

/* --- subscribing ------------------------------------------------------------------------------ */

/* The subscription to a name, reserved if there was none; NULL when memory is out. */
static struct subscriber *reserve_locked(struct events *events, const char *name, weir_pid pid,
                                         struct executor *executor)
{
    struct event *event = make_locked(events, name);
    struct subscriber *subscriber = event ? event_find_locked(events, event, pid) : NULL;

    if (event && !subscriber)
        subscriber = event_reserve_locked(events, event, pid);
    if (event)
        drop_if_unused_locked(events, event, executor);
    return subscriber;
}

static void join_locked(struct runtime *runtime, struct subscriber *subscriber, bool fan_out,
                        struct executor *executor)
{
    event_join_locked(subscriber, fan_out);
    notify_owner_locked(runtime, subscriber->event, executor);
}

static void leave_locked(struct runtime *runtime, struct subscriber *subscriber,
                         struct executor *executor)
{
    struct event *event = subscriber->event;

    event_leave_locked(&runtime->events, subscriber, &executor->reader);
    notify_owner_locked(runtime, event, executor);
    drop_if_unused_locked(&runtime->events, event, executor);
}

int events_subscribe(struct runtime *runtime, struct executor *executor, const char *name,
                     weir_pid pid, bool fan_out)
{
    struct events *events = &runtime->events;
    struct subscriber *subscriber;

    if (!is_name(name))
        return WEIR_EINVALID;
    lock_acquire(&events->lock);
    subscriber = reserve_locked(events, name, pid, executor);
    if (subscriber)
        join_locked(runtime, subscriber, fan_out, executor);
    lock_release(&events->lock);
    return subscriber ? 0 : WEIR_ENOMEM;
}

int events_unsubscribe(struct runtime *runtime, struct executor *executor, const char *name,
                       weir_pid pid)
{
    struct events *events = &runtime->events;
    struct subscriber *subscriber;
    struct event *event;
    bool found;

    if (!is_name(name))
        return WEIR_EINVALID;
    lock_acquire(&events->lock);
    event = find(events, name);
    subscriber = event ? event_find_locked(events, event, pid) : NULL;
    found = subscriber && subscriber->is_live;
    if (found) {
        struct participant *participant = subscriber->participant;

        leave_locked(runtime, subscriber, executor);
        participant_drop_if_unused_locked(events, participant);
    }
    lock_release(&events->lock);
    return found ? 0 : WEIR_EUNKNOWN;
}

/* Ends the unwanted subscriptions of a participant; with `live_stay` only reserved ones. */
static void leave_unwanted_locked(struct runtime *runtime, struct participant *participant,
                                  bool live_stay, struct executor *executor)
{
    struct list *node = participant->subscribers.next;

    while (node != &participant->subscribers) {
        struct subscriber *subscriber = LIST_ENTRY(node, struct subscriber, link);

        node = node->next;
        if (!subscriber->is_wanted && !(live_stay && subscriber->is_live))
            leave_locked(runtime, subscriber, executor);
        else
            subscriber->is_wanted = false;
    }
}

void events_forget(struct runtime *runtime, struct executor *executor, weir_pid pid)
{
    struct events *events = &runtime->events;
    struct participant *participant;

    lock_acquire(&events->lock);
    participant = participant_find_locked(events, pid);
    while (participant && !list_empty(&participant->owned)) {
        struct event *event = LIST_ENTRY(participant->owned.next, struct event, owned_link);

        disown_locked(event);
        drop_if_unused_locked(events, event, executor);
    }
    if (participant)
        leave_unwanted_locked(runtime, participant, false, executor);
    participant_drop_if_unused_locked(events, participant);
    lock_release(&events->lock);
}

/* --- changing in two steps -------------------------------------------------------------------- */

int events_reserve(struct runtime *runtime, struct executor *executor, const char *name,
                   weir_pid pid)
{
    struct events *events = &runtime->events;
    struct subscriber *subscriber;

    if (!is_name(name))
        return WEIR_EINVALID;
    lock_acquire(&events->lock);
    subscriber = reserve_locked(events, name, pid, executor);
    lock_release(&events->lock);
    return subscriber ? 0 : WEIR_ENOMEM;
}

void events_replace(struct runtime *runtime, struct executor *executor, weir_pid pid,
                    const char *const *names, size_t count, bool fan_out)
{
    struct events *events = &runtime->events;
    struct participant *participant;

    lock_acquire(&events->lock);
    participant = participant_find_locked(events, pid);
    for (size_t i = 0; participant && i < count; i++) {
        struct event *event = find(events, names[i]);
        struct subscriber *subscriber = event ? event_find_locked(events, event, pid) : NULL;

        if (!subscriber)
            continue;
        subscriber->is_wanted = true;
        join_locked(runtime, subscriber, fan_out, executor);
    }
    if (participant)
        leave_unwanted_locked(runtime, participant, false, executor);
    participant_drop_if_unused_locked(events, participant);
    lock_release(&events->lock);
}

void events_unreserve(struct runtime *runtime, struct executor *executor, weir_pid pid)
{
    struct events *events = &runtime->events;
    struct participant *participant;

    lock_acquire(&events->lock);
    participant = participant_find_locked(events, pid);
    if (participant)
        leave_unwanted_locked(runtime, participant, true, executor);
    participant_drop_if_unused_locked(events, participant);
    lock_release(&events->lock);
}

/* --- figures and news ------------------------------------------------------------------------- */

uint32_t events_subscribed(struct runtime *runtime, weir_pid pid)
{
    struct events *events = &runtime->events;
    struct participant *participant;
    uint32_t count = 0;

    lock_acquire(&events->lock);
    participant = participant_find_locked(events, pid);
    if (participant)
        for (struct list *node = participant->subscribers.next; node != &participant->subscribers;
             node = node->next)
            count += LIST_ENTRY(node, struct subscriber, link)->is_live;
    lock_release(&events->lock);
    return count;
}

bool events_news(struct runtime *runtime, weir_pid owner, uint64_t *out_token,
                 uint32_t *out_subscribers)
{
    struct events *events = &runtime->events;
    struct participant *participant;
    bool found;

    lock_acquire(&events->lock);
    participant = participant_find_locked(events, owner);
    found = participant && !list_empty(&participant->news);
    if (found) {
        struct event *event = LIST_ENTRY(participant->news.next, struct event, news_link);

        list_remove(&event->news_link);
        event->notified = event->live > 0;
        *out_token = atomic_load_explicit(&event->token, memory_order_relaxed);
        *out_subscribers = event->live;
    }
    lock_release(&events->lock);
    return found;
}

/* --- publishing ------------------------------------------------------------------------------ */

static void give_to_manager(struct runtime *runtime, weir_pid pool, struct fan_out *fan_out)
{
    struct message *copy = fan_out_copy(fan_out);
    int status;

    if (!copy)
        return;
    status = send_message(runtime, fan_out->executor, pool, WEIR_HIGH, copy);
    if (status != 0)
        copy->public.lane = WEIR_NORMAL; /* the next subscriber gets it */
    fan_out_given(fan_out, (struct fan_out_receiver){ pool, FAN_OUT_NO_SEAT }, copy, status);
}

/* Gives one subscriber a copy; a pool routes it or fans it out, as subscribed. */
static void give(struct runtime *runtime, const struct subscriber *subscriber,
                 struct fan_out *fan_out)
{
    struct router *router = NULL;
    struct message *copy;

    if (subscriber->pid & EVENTS_MANAGER) {
        give_to_manager(runtime, subscriber->pid & ~EVENTS_MANAGER, fan_out);
        return;
    }
    if (atomic_load_explicit(&subscriber->fan_out, memory_order_acquire))
        router = actor_find_router(runtime, subscriber->pid);
    if (router) {
        router->ops->fan_out(router, fan_out);
        return;
    }
    copy = fan_out_copy(fan_out);
    if (copy)
        fan_out_given(fan_out, (struct fan_out_receiver){ subscriber->pid, FAN_OUT_NO_SEAT }, copy,
                      send_message(runtime, fan_out->executor, subscriber->pid, WEIR_NORMAL, copy));
}

int events_publish(struct runtime *runtime, struct executor *executor, uint64_t token,
                   struct message *message, uint32_t *out_taken, uint32_t *out_refused)
{
    struct event *event = find_token(&runtime->events, token);
    struct fan_out result = { .executor = executor, .message = message };
    struct subscriber *subscriber;
    uint64_t joined;

    if (!event)
        return WEIR_EUNKNOWN;
    if (message->public.reserved & MESSAGE_TRACKED)
        return WEIR_EINVALID;
    message->public.kind = WEIR_EVENT;
    /* Later subscribers get the next event. */
    joined = atomic_load_explicit(&event->joined, memory_order_acquire);
    for (subscriber = event_first(event); subscriber && subscriber->number <= joined;
         subscriber = event_next(subscriber))
        give(runtime, subscriber, &result);
    fan_out_finish(&result);
    message_destroy(&executor->cache, message);
    if (out_taken)
        *out_taken = result.taken;
    if (out_refused)
        *out_refused = result.refused;
    return 0;
}
