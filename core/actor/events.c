#include "actor/events.h"

#include <stdlib.h>
#include <string.h>

#include "actor/send.h"
#include "pool/fan_out.h"
#include "pool/pool.h"
#include "runtime.h"

/* Who gets an event: immutable, but that a PID may be struck out, or come where it has reserved. */
struct subscriber {
    _Atomic weir_pid pid; /* 0 = gone, or not yet; written under lock, read by publishers */
    _Atomic bool fan_out; /* likewise */
    weir_pid reserved;    /* lock: who may come here; 0 = nobody */
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
    uint32_t live;                       /* lock: of the audience, there now */
    uint32_t reserved;                   /* lock: of the audience, to come */
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

    if (event->owner || event->live || event->reserved)
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

static struct subscriber *find_reserved(struct event *event, weir_pid pid)
{
    struct audience *audience = atomic_load_explicit(&event->audience, memory_order_relaxed);

    for (uint32_t i = 0; audience && i < audience->count; i++)
        if (audience->subscribers[i].reserved == pid)
            return &audience->subscribers[i];
    return NULL;
}

/* Those who are there or to come still, but for `except`, are taken over; room for one is left. */
static struct audience *copy_locked(struct event *event, weir_pid except)
{
    struct audience *old = atomic_load_explicit(&event->audience, memory_order_relaxed);
    uint32_t room = event->live + event->reserved + 1;
    struct audience *next = calloc(1, sizeof *next + room * sizeof next->subscribers[0]);

    for (uint32_t i = 0; next && old && i < old->count; i++) {
        const struct subscriber *from = &old->subscribers[i];
        weir_pid pid = atomic_load_explicit(&from->pid, memory_order_relaxed);
        struct subscriber *to = &next->subscribers[next->count];

        if ((pid == 0 && from->reserved == 0) || (pid && pid == except))
            continue;
        atomic_init(&to->pid, pid);
        atomic_init(&to->fan_out, atomic_load_explicit(&from->fan_out, memory_order_relaxed));
        to->reserved = from->reserved;
        next->count++;
    }
    return next;
}

/* Takes `next`, which is complete. */
static void publish_locked(struct event *event, struct audience *next, struct executor *executor)
{
    struct audience *old = atomic_load_explicit(&event->audience, memory_order_relaxed);

    atomic_store_explicit(&event->audience, next, memory_order_release); /* [E2] */
    if (!old)
        return;
    old->retired.free = free_retired_audience;
    reader_retire(&executor->reader, &old->retired);
}

/* Those who are there still, and the new one. */
static int add_locked(struct event *event, weir_pid pid, bool fan_out, struct executor *executor)
{
    bool is_there = find_subscriber(event, pid) != NULL;
    struct audience *next = copy_locked(event, pid);

    if (!next)
        return WEIR_ENOMEM;
    atomic_init(&next->subscribers[next->count].fan_out, fan_out);
    atomic_init(&next->subscribers[next->count++].pid, pid);
    event->live += is_there ? 0 : 1;
    publish_locked(event, next, executor);
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

static bool unreserve_locked(struct event *event, weir_pid pid)
{
    struct subscriber *subscriber = find_reserved(event, pid);

    if (!subscriber)
        return false;
    subscriber->reserved = 0;
    event->reserved--;
    return true;
}

static void disown_locked(struct event *event, weir_pid pid)
{
    if (event->owner != pid)
        return;
    event->owner = 0;
    atomic_store_explicit(&event->token, 0, memory_order_release);
}

/* What becomes of a PID at an event; called for each event there is, which may go then. */
typedef void at_event(struct runtime *runtime, struct event *event, struct executor *executor,
                      void *context);

static void walk(struct runtime *runtime, struct executor *executor, at_event *visit, void *context)
{
    struct events *events = &runtime->events;

    pthread_mutex_lock(&events->lock);
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++) {
        struct event *next;

        for (struct event *event = first_of(events, i); event; event = next) {
            next = next_of(event);
            visit(runtime, event, executor, context);
            drop_if_unused_locked(events, event, executor);
        }
    }
    pthread_mutex_unlock(&events->lock);
}

static void forget_at(struct runtime *runtime, struct event *event, struct executor *executor,
                      void *context)
{
    weir_pid pid = *(weir_pid *)context;

    disown_locked(event, pid);
    (void)unreserve_locked(event, pid);
    (void)strike_out_locked(runtime, event, pid, executor);
}

void events_forget(struct runtime *runtime, struct executor *executor, weir_pid pid)
{
    walk(runtime, executor, forget_at, &pid);
}

/* --- changing in two steps -------------------------------------------------------------------- */

static int reserve_locked(struct event *event, weir_pid pid, struct executor *executor)
{
    struct audience *next;

    if (find_subscriber(event, pid) || find_reserved(event, pid))
        return 0;
    next = copy_locked(event, 0);
    if (!next)
        return WEIR_ENOMEM;
    next->subscribers[next->count++].reserved = pid;
    event->reserved++;
    publish_locked(event, next, executor);
    return 0;
}

int events_reserve(struct runtime *runtime, struct executor *executor, const char *name,
                   weir_pid subscriber)
{
    struct events *events = &runtime->events;
    struct event *event;
    int status;

    if (!is_name(name))
        return WEIR_EINVALID;
    pthread_mutex_lock(&events->lock);
    event = make_locked(events, name);
    status = event ? reserve_locked(event, subscriber, executor) : WEIR_ENOMEM;
    if (event)
        drop_if_unused_locked(events, event, executor);
    pthread_mutex_unlock(&events->lock);
    return status;
}

struct replacing {
    weir_pid pid;
    const char *const *names;
    size_t count;
    bool fan_out;
};

static bool is_named(const struct replacing *replacing, const char *name)
{
    bool found = false;

    for (size_t i = 0; i < replacing->count && !found; i++)
        found = strcmp(name, replacing->names[i]) == 0;
    return found;
}

static void replace_at(struct runtime *runtime, struct event *event, struct executor *executor,
                       void *context)
{
    const struct replacing *replacing = context;
    struct subscriber *there = find_subscriber(event, replacing->pid);
    struct subscriber *place = there ? there : find_reserved(event, replacing->pid);
    bool comes = unreserve_locked(event, replacing->pid) && !there;

    if (!is_named(replacing, event->name)) {
        (void)strike_out_locked(runtime, event, replacing->pid, executor);
        return;
    }
    if (!place)
        return;
    /* Before the PID: who sees that sees how it is to be served. */
    atomic_store_explicit(&place->fan_out, replacing->fan_out, memory_order_release);
    atomic_store_explicit(&place->pid, replacing->pid, memory_order_release);
    event->live += comes ? 1 : 0;
    tell_owner_locked(runtime, event, executor);
}

void events_replace(struct runtime *runtime, struct executor *executor, weir_pid subscriber,
                    const char *const *names, size_t count, bool fan_out)
{
    struct replacing replacing = { subscriber, names, count, fan_out };

    walk(runtime, executor, replace_at, &replacing);
}

static void unreserve_at(struct runtime *runtime, struct event *event, struct executor *executor,
                         void *context)
{
    (void)runtime;
    (void)executor;
    (void)unreserve_locked(event, *(weir_pid *)context);
}

void events_unreserve(struct runtime *runtime, struct executor *executor, weir_pid subscriber)
{
    walk(runtime, executor, unreserve_at, &subscriber);
}

uint32_t events_subscribed(struct runtime *runtime, weir_pid subscriber)
{
    struct events *events = &runtime->events;
    uint32_t count = 0;

    pthread_mutex_lock(&events->lock);
    for (uint32_t i = 0; i < EVENTS_BUCKETS; i++)
        for (struct event *event = first_of(events, i); event; event = next_of(event))
            count += find_subscriber(event, subscriber) != NULL;
    pthread_mutex_unlock(&events->lock);
    return count;
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
    struct router *router = NULL;
    struct message *copy;

    if (atomic_load_explicit(&subscriber->fan_out, memory_order_acquire))
        router = actor_find_router(runtime, pid);
    if (router) {
        fan_out_below(pool_of_router(router), executor, message, result);
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
