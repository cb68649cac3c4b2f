/* SPDX-License-Identifier: MIT */
#include "kit_due.h"

#include <stdlib.h>

#include "kit_message.h"

uint64_t kit_due_add(struct weir_kit *kit, const struct kit_due *due)
{
    struct kit_due *added = kit_take(sizeof *added);
    struct kit_due **end = &kit->dues;

    *added = *due;
    added->number = ++kit->last_number;
    added->next = NULL;
    while (*end)
        end = &(*end)->next;
    *end = added;
    return added->number;
}

static struct kit_due *unlink_due(struct kit_due **link)
{
    struct kit_due *found = *link;

    if (found)
        *link = found->next;
    return found;
}

struct kit_due *kit_due_take(struct weir_kit *kit, uint64_t number, bool is_request)
{
    struct kit_due **link = &kit->dues;

    while (*link && ((*link)->number != number || (*link)->is_request != is_request))
        link = &(*link)->next;
    return unlink_due(link);
}

struct kit_due *kit_due_find_request(struct weir_kit *kit, uint64_t number)
{
    struct kit_due *due = kit->dues;

    while (due && (due->number != number || !due->is_request || due->cancelled))
        due = due->next;
    return due;
}

struct kit_due *kit_due_take_cancelled(struct weir_kit *kit)
{
    struct kit_due **link = &kit->dues;

    while (*link && !(*link)->cancelled)
        link = &(*link)->next;
    return unlink_due(link);
}

struct kit_due *kit_due_find_next(struct weir_kit *kit, uint64_t until_ms)
{
    struct kit_due *next = NULL;

    for (struct kit_due *due = kit->dues; due; due = due->next) {
        if (due->at_ms <= until_ms && (!next || due->at_ms < next->at_ms))
            next = due;
    }
    return next;
}

void kit_due_finish(struct weir_kit *kit)
{
    struct kit_due *due;

    while ((due = unlink_due(&kit->dues))) {
        if (due->message)
            kit_message_give((struct kit_message *)(void *)due->message, KIT_FREED);
        free(due);
    }
}

static size_t count(const struct weir_kit *kit, bool requests)
{
    size_t found = 0;

    for (const struct kit_due *due = kit->dues; due; due = due->next)
        found += due->is_request == requests;
    return found;
}

size_t weir_kit_timer_count(const struct weir_kit *kit)
{
    return count(kit, false);
}

size_t weir_kit_open_request_count(const struct weir_kit *kit)
{
    return count(kit, true);
}
