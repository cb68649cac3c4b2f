/* SPDX-License-Identifier: MIT */
/*
 * actor/event.h - one named event, its subscribers, and the events of each PID.
 *
 * A subscription is in three places: in the audience of its event, which publishers walk without a
 * lock, in the list of its PID, and in a table by both. So the cost of joining and leaving does not
 * depend on the number of subscribers, and the end of an actor costs as much as it has
 * subscriptions and events. A reserved subscription is not in the audience.
 *
 * All under the lock of struct events, except event_first and event_next: see events.h.
 */
#ifndef ACTOR_EVENT_H
#define ACTOR_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/table.h"
#include "dispatch/reclaim.h"

#include <weir/message.h>

#define EVENTS_BUCKETS 256 /* a power of two: the low bits of a token are the bucket */

struct event;

/* All events of a runtime; see events.h. */
struct events {
    struct lock lock;
    uint64_t last_token;                             /* lock */
    struct table participants;                       /* lock: owners and subscribers */
    struct table subscribers;                        /* lock: of all events */
    _Atomic(struct event *) buckets[EVENTS_BUCKETS]; /* written under lock, read by all */
};

/* The subscriptions and events of a PID; freed with the last of them. */
struct participant {
    struct table_node node; /* of events->participants, by PID */
    weir_pid pid;
    struct list subscribers; /* one for each event, live and reserved */
    struct list owned;       /* events */
    /* owned events whose audience has begun or ended since the owner was notified */
    struct list news;
};

struct event {
    struct retired retired;
    _Atomic(struct event *) next;       /* of the bucket; written under lock, read by all */
    _Atomic uint64_t token;             /* as `next`; 0 = no owner */
    _Atomic(struct subscriber *) first; /* as `next`; of the audience */
    _Atomic uint64_t joined;            /* as `next`; the number of the latest subscription */
    struct subscriber *last;
    struct participant *owner; /* NULL = none */
    struct list owned_link;
    struct list news_link;
    uint32_t live;     /* subscriptions in the audience */
    uint32_t reserved; /* subscriptions that are not in the audience yet */
    bool notified;     /* the owner was notified of the audience */
    uint32_t bucket;   /* const */
    char name[];       /* const */
};

struct subscriber {
    struct retired retired;
    _Atomic(struct subscriber *) next; /* written under lock, read by all */
    struct subscriber *previous;
    weir_pid pid; /* const */
    /* increases with each subscriber of the event; const once it is in the audience */
    uint64_t number;
    _Atomic bool fan_out;            /* written under lock, read by all */
    bool is_live;                    /* else reserved */
    bool is_wanted;                  /* by a replacement in progress */
    struct event *event;             /* const */
    struct participant *participant; /* const */
    struct list link;                /* of the participant */
    struct table_node node;          /* of events->subscribers, by event and PID */
};

/* NULL: the PID has no events and no subscriptions. */
struct participant *participant_find_locked(struct events *events, weir_pid pid);
/* Created if needed; NULL when memory is out. */
struct participant *participant_get_locked(struct events *events, weir_pid pid);
/* Frees it when it is empty; NULL is allowed. */
void participant_drop_if_unused_locked(struct events *events, struct participant *participant);

/* A live or reserved subscription; NULL: none. */
struct subscriber *event_find_locked(struct events *events, const struct event *event,
                                     weir_pid pid);
/* Reserves a subscription; this PID must not have one. NULL when memory is out. */
struct subscriber *event_reserve_locked(struct events *events, struct event *event, weir_pid pid);
/* Adds it to the audience, unless it is there; sets `fan_out` in both cases. */
void event_join_locked(struct subscriber *subscriber, bool fan_out);
/* Removes a live or reserved subscription; its participant stays. */
void event_leave_locked(struct events *events, struct subscriber *subscriber,
                        struct reader *reader);

/* The audience, in the order of joining. Any thread, in a read section. Subscribers with a number
 * above `joined`, read before, have joined later. [E2] acquires their fields. */
static inline struct subscriber *event_first(struct event *event)
{
    return atomic_load_explicit(&event->first, memory_order_acquire);
}

static inline struct subscriber *event_next(struct subscriber *subscriber)
{
    return atomic_load_explicit(&subscriber->next, memory_order_acquire);
}

#endif
