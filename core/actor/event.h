/*
 * actor/event.h - one named event, those who subscribe to it, and what each PID has of all events.
 *
 * A subscription is in three places: in the audience of its event, which publishers walk without a
 * lock, in the list of its PID, and in a table by both. So joining and leaving cost the same
 * however many others subscribe, and the end of an actor costs as much as it has subscribed and
 * owns. A subscription that is only reserved is not in the audience.
 *
 * All under the lock of struct events, but for event_first and event_next: see events.h.
 */
#ifndef ACTOR_EVENT_H
#define ACTOR_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "actor/events.h"
#include "base/list.h"
#include "dispatch/reclaim.h"

/* What a PID has: made with the first, and gone with the last of it. */
struct participant {
    struct table_node node; /* of events->participants, by PID */
    weir_pid pid;
    struct list subscribers; /* one for each event, live and reserved */
    struct list owned;       /* events */
    struct list news;        /* of these, whose audience has come or gone since it was told */
};

struct event {
    struct retired retired;
    _Atomic(struct event *) next;       /* of the bucket; written under lock, read by all */
    _Atomic uint64_t token;             /* likewise; 0 = no owner */
    _Atomic(struct subscriber *) first; /* likewise; of the audience */
    _Atomic uint64_t joined;            /* likewise: the number of the latest subscription */
    struct subscriber *last;
    struct participant *owner; /* NULL = nobody */
    struct list owned_link;
    struct list news_link;
    uint32_t live;     /* subscriptions in the audience */
    uint32_t reserved; /* subscriptions to come */
    bool told;         /* the owner knows of an audience */
    uint32_t bucket;   /* const */
    char name[];       /* const */
};

struct subscriber {
    struct retired retired;
    _Atomic(struct subscriber *) next; /* written under lock, read by all */
    struct subscriber *previous;
    weir_pid pid;    /* const */
    uint64_t number; /* grows with each that joins the event; const once it is in the audience */
    _Atomic bool fan_out;            /* written under lock, read by all */
    bool is_live;                    /* else reserved */
    bool is_wanted;                  /* of a replacement that is under way */
    struct event *event;             /* const */
    struct participant *participant; /* const */
    struct list link;                /* of the participant */
    struct table_node node;          /* of events->subscribers, by event and PID */
};

/* NULL: it has nothing. */
struct participant *participant_find_locked(struct events *events, weir_pid pid);
/* Made if need be; NULL when memory is out. */
struct participant *participant_get_locked(struct events *events, weir_pid pid);
/* When it has nothing; NULL is allowed. */
void participant_drop_if_unused_locked(struct events *events, struct participant *participant);

/* Live or reserved; NULL: none. */
struct subscriber *event_find_locked(struct events *events, const struct event *event,
                                     weir_pid pid);
/* A reserved one; there is none of this PID. NULL when memory is out. */
struct subscriber *event_reserve_locked(struct events *events, struct event *event, weir_pid pid);
/* Into the audience, unless it is there; `fan_out` counts from now on in any case. */
void event_join_locked(struct subscriber *subscriber, bool fan_out);
/* Takes it away, live or reserved; its participant stays. */
void event_leave_locked(struct events *events, struct subscriber *subscriber,
                        struct reader *reader);

/* The audience, in the order of joining. Any thread, in a read section. Those with a number above
 * `joined`, read before, have come later. [E2] acquires what is in them. */
static inline struct subscriber *event_first(struct event *event)
{
    return atomic_load_explicit(&event->first, memory_order_acquire);
}

static inline struct subscriber *event_next(struct subscriber *subscriber)
{
    return atomic_load_explicit(&subscriber->next, memory_order_acquire);
}

#endif
