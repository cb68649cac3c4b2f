/* SPDX-License-Identifier: MIT */
#include "actor/event.h"

#include <stddef.h>
#include <stdlib.h>

/* --- participants ---------------------------------------------------------------------------- */

struct participant *participant_find_locked(struct events *events, weir_pid pid)
{
    struct table_node *node = table_first(&events->participants, pid);

    return node ? TABLE_ENTRY(node, struct participant, node) : NULL;
}

struct participant *participant_get_locked(struct events *events, weir_pid pid)
{
    struct participant *participant = participant_find_locked(events, pid);

    if (participant)
        return participant;
    participant = calloc(1, sizeof *participant);
    if (!participant)
        return NULL;
    participant->pid = pid;
    list_init(&participant->subscribers);
    list_init(&participant->owned);
    list_init(&participant->news);
    table_add(&events->participants, &participant->node, pid);
    return participant;
}

void participant_drop_if_unused_locked(struct events *events, struct participant *participant)
{
    if (!participant || !list_empty(&participant->subscribers) || !list_empty(&participant->owned))
        return;
    table_remove(&events->participants, &participant->node);
    free(participant);
}

/* --- subscriptions --------------------------------------------------------------------------- */

static uint64_t hash_of(const struct event *event, weir_pid pid)
{
    return pid * 31 + (uint64_t)(uintptr_t)event;
}

struct subscriber *event_find_locked(struct events *events, const struct event *event, weir_pid pid)
{
    struct table_node *node = table_first(&events->subscribers, hash_of(event, pid));

    for (; node; node = table_next(node)) {
        struct subscriber *subscriber = TABLE_ENTRY(node, struct subscriber, node);

        if (subscriber->event == event && subscriber->pid == pid)
            return subscriber;
    }
    return NULL;
}

struct subscriber *event_reserve_locked(struct events *events, struct event *event, weir_pid pid)
{
    struct subscriber *subscriber = calloc(1, sizeof *subscriber);
    struct participant *participant;

    if (!subscriber)
        return NULL;
    participant = participant_get_locked(events, pid);
    if (!participant) {
        free(subscriber);
        return NULL;
    }
    subscriber->pid = pid;
    subscriber->event = event;
    subscriber->participant = participant;
    list_append(&participant->subscribers, &subscriber->link);
    table_add(&events->subscribers, &subscriber->node, hash_of(event, pid));
    event->reserved++;
    return subscriber;
}

void event_join_locked(struct subscriber *subscriber, bool fan_out)
{
    struct event *event = subscriber->event;
    uint64_t number = atomic_load_explicit(&event->joined, memory_order_relaxed) + 1;

    /* Release: a reader that finds the subscriber finds its fan_out. */
    atomic_store_explicit(&subscriber->fan_out, fan_out, memory_order_release);
    if (subscriber->is_live)
        return;
    subscriber->is_live = true;
    subscriber->number = number;
    subscriber->previous = event->last;
    /* [E2] the release publishes the subscription. */
    atomic_store_explicit(event->last ? &event->last->next : &event->first, subscriber,
                          memory_order_release);
    event->last = subscriber;
    atomic_store_explicit(&event->joined, number, memory_order_release);
    event->reserved--;
    event->live++;
}

/* Its own `next` stays, for a publisher that is reading it. */
static void unlink_locked(struct subscriber *subscriber)
{
    struct event *event = subscriber->event;
    struct subscriber *next = event_next(subscriber);
    struct subscriber *previous = subscriber->previous;

    atomic_store_explicit(previous ? &previous->next : &event->first, next, memory_order_release);
    if (next)
        next->previous = previous;
    else
        event->last = previous;
    event->live--;
}

static void free_retired(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct subscriber, retired));
}

void event_leave_locked(struct events *events, struct subscriber *subscriber, struct reader *reader)
{
    if (subscriber->is_live)
        unlink_locked(subscriber);
    else
        subscriber->event->reserved--;
    list_remove(&subscriber->link);
    table_remove(&events->subscribers, &subscriber->node);
    subscriber->retired.free = free_retired;
    reader_retire(reader, &subscriber->retired);
}
