/* SPDX-License-Identifier: MIT */
#include "config/isolation.h"

#include <stdio.h>
#include <string.h>

void isolation_note(const struct config_node *node, struct settings_pool *pool)
{
    const struct config_node *process = config_find(node, "process");

    pool->process.sandbox.on = process && config_find(process, "sandbox");
}

static bool is_same_list(const struct weir_list *one, const struct weir_list *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->items[i], other->items[i]) != 0)
            return false;
    return true;
}

bool isolation_has_same_sandbox(const struct settings_sandbox *one,
                                const struct settings_sandbox *other)
{
    return one->on == other->on && one->strict == other->strict && one->network == other->network &&
           is_same_list(&one->read, &other->read) && is_same_list(&one->write, &other->write);
}

/* Appends the list, as much of it as there is room for. */
static void describe_list(const char *name, const struct weir_list *list, char *text, size_t size)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t length = strlen(text);

        (void)snprintf(text + length, size - length, "%s%s", i ? ", " : name, list->items[i]);
    }
}

void isolation_describe_sandbox(const struct settings_sandbox *sandbox, char *text, size_t size)
{
    if (!sandbox->on) {
        (void)snprintf(text, size, "off");
        return;
    }
    (void)snprintf(text, size, "%s%s", sandbox->strict ? "strict, " : "",
                   sandbox->network ? "network" : "no network");
    describe_list(", read ", &sandbox->read, text, size);
    describe_list(", write ", &sandbox->write, text, size);
}

const char *isolation_refuses_behaviour(const struct weir_behaviour *behaviour)
{
    if (behaviour->settled)
        return "is the origin of messages (settled)";
    if (behaviour->audience)
        return "publishes events (audience)";
    if (behaviour->undelivered)
        return "hears of messages that were not delivered (undelivered)";
    if (behaviour->taken || behaviour->returned)
        return "is made for leases (taken, returned)";
    if (behaviour->flags & WEIR_GIVES_UP)
        return "decides how long its pool waits for messages (WEIR_GIVES_UP)";
    return NULL;
}

const char *isolation_refuses(const struct settings_pool *pool, char *text, size_t size)
{
    const struct catalogue_entry *entry = pool->use.entry;
    const char *why = entry ? isolation_refuses_behaviour(entry->behaviour) : NULL;

    if (pool->isolation != SETTINGS_PROCESS)
        return NULL;
    if (pool->core.lease.on)
        return "cannot be process in a pool with `lease`: a process has no leases";
    if (pool->manager.use)
        return "cannot be process in a pool with `manager`, which would run in the host";
    if (!why)
        return NULL;
    (void)snprintf(text, size, "cannot be process: %.64s %s", pool->use.use, why);
    return text;
}
