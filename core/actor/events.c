#include "actor/events.h"

#include <stdlib.h>
#include <string.h>

#include "actor/send.h"
#include "pool/fan_out.h"
#include "runtime.h"

/* Who gets an event: immutable, but that a PID may be struck out. */
struct subscriber {
    _Atomic weir_pid pid; /* 0 = gone; written under lock, read by publishers */
    bool fan_out;         /* const */
};

struct audience {
    struct retired retired;
    uint32_t count;
    struct subscriber subscribers[];
};

struct event {
    struct retired retired;
    _Atomic(struct event *) next;        /* written under lock, read by all */
    _Atomic uint64_t token;              /* likewise; 0 = no owner */
    _Atomic(struct audience *) audience; /* likewise; NULL = nobody yet */
    weir_pid owner;                      /* lock */
    uint32_t live;                       /* lock: of the audience, not struck out */
    bool told;                           /* lock: the owner knows of an audience */
    uint32_t bucket;                     /* const */
    char name[];                         /* const */
};

void events_init(struct events *events)
{
    pthread_mutex_init(&events->lock, NULL);
    events->last_token = 0;
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++)
        atomic_init(&events->buckets[i], NULL);
}

static void free_event(struct event *event)
{
    free(atomic_load_explicit(&event->audience, memory_order_relaxed));
    free(event);
}

void events_finish(struct events *events)
{
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++) {
        struct event *event = atomic_load_explicit(&events->buckets[i], memory_order_relaxed);

        while (event) {
            struct event *next = atomic_load_explicit(&event->next, memory_order_relaxed);

            free_event(event);
            event = next;
        }
    }
    pthread_mutex_destroy(&events->lock);
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

/* The event of a name, made if need be; NULL when memory is out. */
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
    bucket = &events->buckets[event->bucket];
    atomic_store_explicit(&event->next, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(bucket, event, memory_order_release); /* [E1] */
    return event;
}

static void free_retired_event(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free_event((struct event *)(void *)((char *)retired - offsetof(struct event, retired)));
}

static void free_retired_audience(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct audience, retired));
}

/* Takes an event away that nobody owns or wants. */
static void drop_if_unused_locked(struct events *events, struct event *event,
                                  struct executor *executor)
{
    _Atomic(struct event *) *link = &events->buckets[event->bucket];

    if (event->owner || event->live)
        return;
    while (atomic_load_explicit(link, memory_order_relaxed) != event)
        link = &atomic_load_explicit(link, memory_order_relaxed)->next;
    atomic_store_explicit(link, next_of(event), memory_order_release);
    event->retired.free = free_retired_event;
    reader_retire(&executor->reader, &event->retired);
}

/* The owner looks again whether it has an audience. */
static void tell_owner_locked(struct runtime *runtime, struct event *event,
                              struct executor *executor)
{
    struct actor *owner = event->owner ? actor_find(runtime, event->owner) : NULL;

    if (owner && event->told != (event->live > 0))
        (void)actor_signal(owner, actor_serial_of(event->owner), executor, SIGNAL_AUDIENCE);
}

int events_register(struct runtime *runtime, struct executor *executor, const char *name,
                    weir_pid owner, uint64_t *out_token)
{
    struct events *events = &runtime->events;
    struct event *event;
    int status = 0;

    if (!is_name(name))
        return WEIR_EINVALID;
    pthread_mutex_lock(&events->lock);
    event = make_locked(events, name);
    if (!event) {
        status = WEIR_ENOMEM;
    } else if (event->owner) {
        status = WEIR_EEXISTS;
    } else {
        event->owner = owner;
        event->told = false;
        *out_token = ++events->last_token * EVENTS_BUCKETS + event->bucket;
        atomic_store_explicit(&event->token, *out_token, memory_order_release);
        tell_owner_locked(runtime, event, executor);
    }
    pthread_mutex_unlock(&events->lock);
    return status;
}

static struct subscriber *find_subscriber(struct event *event, weir_pid pid)
{
    struct audience *audience = atomic_load_explicit(&event->audience, memory_order_relaxed);

    for (uint32_t i = 0; audience && i < audience->count; i++)
        if (atomic_load_explicit(&audience->subscribers[i].pid, memory_order_relaxed) == pid)
            return &audience->subscribers[i];
    return NULL;
}

/* Those who are there still, but for the new one; and the new one. */
static int add_locked(struct event *event, weir_pid pid, bool fan_out, struct executor *executor)
{
    struct audience *old = atomic_load_explicit(&event->audience, memory_order_relaxed);
    struct audience *next = calloc(1,
                                   sizeof *next + (event->live + 1) * sizeof next->subscribers[0]);

    if (!next)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; old && i < old->count; i++) {
        weir_pid other = atomic_load_explicit(&old->subscribers[i].pid, memory_order_relaxed);

        if (other == 0 || other == pid)
            continue;
        next->subscribers[next->count].fan_out = old->subscribers[i].fan_out;
        atomic_init(&next->subscribers[next->count++].pid, other);
    }
    next->subscribers[next->count].fan_out = fan_out;
    atomic_init(&next->subscribers[next->count++].pid, pid);
    event->live = next->count;
    atomic_store_explicit(&event->audience, next, memory_order_release); /* [E2] */
    if (old) {
        old->retired.free = free_retired_audience;
        reader_retire(&executor->reader, &old->retired);
    }
    return 0;
}

int events_subscribe(struct runtime *runtime, struct executor *executor, const char *name,
                     weir_pid subscriber, bool fan_out)
{
    struct events *events = &runtime->events;
    struct event *event;
    int status;

    if (!is_name(name))
        return WEIR_EINVALID;
    pthread_mutex_lock(&events->lock);
    event = make_locked(events, name);
    status = event ? add_locked(event, subscriber, fan_out, executor) : WEIR_ENOMEM;
    if (status == 0)
        tell_owner_locked(runtime, event, executor);
    else if (event)
        drop_if_unused_locked(events, event, executor);
    pthread_mutex_unlock(&events->lock);
    return status;
}

static bool strike_out_locked(struct runtime *runtime, struct event *event, weir_pid pid,
                              struct executor *executor)
{
    struct subscriber *subscriber = find_subscriber(event, pid);

    if (!subscriber)
        return false;
    atomic_store_explicit(&subscriber->pid, 0, memory_order_release);
    event->live--;
    tell_owner_locked(runtime, event, executor);
    return true;
}

int events_unsubscribe(struct runtime *runtime, struct executor *executor, const char *name,
                       weir_pid subscriber)
{
    struct events *events = &runtime->events;
    struct event *event;
    bool found = false;

    if (!is_name(name))
        return WEIR_EINVALID;
    pthread_mutex_lock(&events->lock);
    event = find(events, name);
    if (event)
        found = strike_out_locked(runtime, event, subscriber, executor);
    if (event)
        drop_if_unused_locked(events, event, executor);
    pthread_mutex_unlock(&events->lock);
    return found ? 0 : WEIR_EUNKNOWN;
}

void events_forget(struct runtime *runtime, struct executor *executor, weir_pid pid)
{
    struct events *events = &runtime->events;

    pthread_mutex_lock(&events->lock);
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++) {
        struct event *next;

        for (struct event *event = first_of(events, i); event; event = next) {
            next = next_of(event);
            if (event->owner == pid) {
                event->owner = 0;
                atomic_store_explicit(&event->token, 0, memory_order_release);
            }
            (void)strike_out_locked(runtime, event, pid, executor);
            drop_if_unused_locked(events, event, executor);
        }
    }
    pthread_mutex_unlock(&events->lock);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    bool found = false;

    for (size_t i = 0; i < count && !found; i++)
        found = strcmp(name, names[i]) == 0;
    return found;
}

void events_keep_only(struct runtime *runtime, struct executor *executor, weir_pid pid,
                      const char *const *names, size_t count)
{
    struct events *events = &runtime->events;

    pthread_mutex_lock(&events->lock);
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++) {
        struct event *next;

        for (struct event *event = first_of(events, i); event; event = next) {
            next = next_of(event);
            if (is_one_of(event->name, names, count))
                continue;
            (void)strike_out_locked(runtime, event, pid, executor);
            drop_if_unused_locked(events, event, executor);
        }
    }
    pthread_mutex_unlock(&events->lock);
}

bool events_news(struct runtime *runtime, weir_pid owner, uint64_t *out_token,
                 uint32_t *out_subscribers)
{
    struct events *events = &runtime->events;
    bool found = false;

    pthread_mutex_lock(&events->lock);
    for (uint32_t i = 0; i < EVENTS_BUCKETS && !found; i++)
        for (struct event *event = first_of(events, i); event && !found; event = next_of(event)) {
            found = event->owner == owner && event->told != (event->live > 0);
            if (!found)
                continue;
            event->told = event->live > 0;
            *out_token = atomic_load_explicit(&event->token, memory_order_relaxed);
            *out_subscribers = event->live;
        }
    pthread_mutex_unlock(&events->lock);
    return found;
}

/* --- publishing ------------------------------------------------------------------------------ */

/* Gives one subscriber a copy; a pool gives it on as it was asked to. */
static void give(struct runtime *runtime, struct executor *executor,
                 const struct subscriber *subscriber, weir_pid pid, const struct message *message,
                 struct fan_out *result)
{
    struct actor *actor = actor_find(runtime, pid);
    struct message *copy;

    if (subscriber->fan_out && actor && actor->kind == ACTOR_POOL) {
        fan_out_below(actor->pool, executor, message, result);
        return;
    }
    copy = message_copy(&executor->cache, message);
    if (copy && send_message(runtime, executor, pid, WEIR_NORMAL, copy) == 0) {
        result->taken++;
        return;
    }
    result->refused++;
    message_destroy(&executor->cache, copy);
}

int events_publish(struct runtime *runtime, struct executor *executor, uint64_t token,
                   struct message *message, uint32_t *out_taken, uint32_t *out_refused)
{
    struct event *event = find_token(&runtime->events, token);
    struct fan_out result = { 0 };
    const struct audience *audience;

    if (!event)
        return WEIR_EUNKNOWN;
    if (message->public.reserved & MESSAGE_ORIGIN)
        return WEIR_EINVALID;
    message->public.kind = WEIR_EVENT;
    /* [E2] acquires the audience. */
    audience = atomic_load_explicit(&event->audience, memory_order_acquire);
    for (uint32_t i = 0; audience && i < audience->count; i++) {
        weir_pid pid = atomic_load_explicit(&audience->subscribers[i].pid, memory_order_acquire);

        if (pid)
            give(runtime, executor, &audience->subscribers[i], pid, message, &result);
    }
    message_destroy(&executor->cache, message);
    if (out_taken)
        *out_taken = result.taken;
    if (out_refused)
        *out_refused = result.refused;
    return 0;
}
