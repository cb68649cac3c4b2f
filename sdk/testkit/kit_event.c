/* SPDX-License-Identifier: MIT */
#include "kit_event.h"

#include <stdlib.h>
#include <string.h>

#include "kit_turn.h"

#define NAME_MAX_BYTES 127 /* as in the host */

static struct kit_event *find(const struct weir_kit *kit, const char *name)
{
    struct kit_event *event = kit->events;

    while (event && strcmp(event->name, name) != 0)
        event = event->next;
    return event;
}

/* The event of a name; NULL: the name is wrong, or the test lets the allocation fail. */
static int make(struct weir_kit *kit, const char *name, struct kit_event **out)
{
    size_t size = name ? strlen(name) + 1 : 0;

    if (size < 2 || size > NAME_MAX_BYTES + 1)
        return WEIR_EINVALID;
    *out = find(kit, name);
    if (*out)
        return 0;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    *out = kit_take(sizeof **out + size);
    memcpy((*out)->name, name, size);
    (*out)->next = kit->events;
    kit->events = *out;
    return 0;
}

int kit_event_own(struct weir_self *self, const char *name, uint64_t *out_event)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_event *event;
    int status = make(kit, name, &event);

    if (status == 0 && event->token)
        status = WEIR_EEXISTS;
    if (status != 0)
        return status;
    event->token = ++kit->last_number;
    *out_event = event->token;
    return 0;
}

int kit_event_subscribe(struct weir_self *self, const char *name)
{
    struct kit_event *event;
    int status = make(kit_of(self), name, &event);

    if (status == 0)
        event->subscribed = true;
    return status;
}

int kit_event_unsubscribe(struct weir_self *self, const char *name)
{
    struct kit_event *event = name ? find(kit_of(self), name) : NULL;

    if (!event || !event->subscribed)
        return WEIR_EUNKNOWN;
    event->subscribed = false;
    return 0;
}

const struct kit_event *kit_event_find(const struct weir_kit *kit, uint64_t token)
{
    const struct kit_event *event = kit->events;

    while (event && event->token != token)
        event = event->next;
    return token ? event : NULL;
}

int weir_kit_audience(struct weir_kit *kit, const char *name, uint32_t subscribers)
{
    struct kit_event *event = find(kit, name);
    bool had;

    if (!event || !event->token)
        return WEIR_EUNKNOWN;
    had = event->subscribers > 0;
    event->subscribers = subscribers;
    if (had == (subscribers > 0) || !kit->behaviour.audience)
        return 0;
    kit_turn_begin(kit);
    kit->behaviour.audience(&kit->self, kit->state, event->token, subscribers);
    kit_turn_end(kit);
    return 0;
}

bool weir_kit_is_subscribed(const struct weir_kit *kit, const char *name)
{
    const struct kit_event *event = find(kit, name);

    return event && event->subscribed;
}

void kit_event_close(struct weir_kit *kit)
{
    for (struct kit_event *event = kit->events; event; event = event->next) {
        event->token = 0;
        event->subscribers = 0;
        event->subscribed = false;
    }
}

void kit_event_finish(struct weir_kit *kit)
{
    for (struct kit_event *event = kit->events, *next; event; event = next) {
        next = event->next;
        free(event);
    }
    kit->events = NULL;
}
