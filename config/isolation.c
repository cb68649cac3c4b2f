/* SPDX-License-Identifier: MIT */
#include "config/isolation.h"

#include <stdio.h>

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
