/* SPDX-License-Identifier: MIT */
#include "host/pages/holders.h"

#include <inttypes.h>
#include <stdlib.h>

struct holder {
    weir_pid pid;
    uint32_t index;
    const char *path; /* borrowed from the settings */
};

static int by_pid(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* False: memory is out. */
static bool add_pool(struct holders *holders, struct pool *pool, const char *path)
{
    uint32_t max = pool_members(pool, NULL, sizeof(struct weir_member), 0);
    struct weir_member *members = calloc((size_t)max + 1, sizeof *members);
    uint32_t count = members ? pool_members(pool, members, sizeof *members, max) : 0;
    struct holder *items = realloc(holders->items, (holders->count + max + 1) * sizeof *items);

    if (items)
        holders->items = items;
    for (uint32_t i = 0; items && i < count && i < max; i++)
        items[holders->count++] = (struct holder){ members[i].pid, members[i].index, path };
    free(members);
    return items != NULL;
}

void holders_read_locked(const struct overview *overview, struct holders *out)
{
    const struct assembly *assembly = overview->assembly;
    const struct settings *settings = assembly->shared->settings;
    bool has_memory = true;

    *out = (struct holders){ 0 };
    for (uint32_t i = 0; has_memory && i < settings->pool_count; i++)
        if (!settings->pools[i].nested)
            has_memory = add_pool(out, assembly->pools[i], settings->pools[i].path);
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_pid);
}

void holders_finish(struct holders *holders)
{
    free(holders->items);
}

void holders_name(const struct holders *holders, weir_pid pid, char name[HOLDER_NAME_SIZE])
{
    const struct holder key = { .pid = pid };
    const struct holder *found = NULL;

    if (holders->count > 0)
        found = bsearch(&key, holders->items, holders->count, sizeof key, by_pid);
    if (pid == 0)
        (void)snprintf(name, HOLDER_NAME_SIZE, "outside");
    else if (found)
        (void)snprintf(name, HOLDER_NAME_SIZE, "%s#%" PRIu32, found->path, found->index);
    else
        (void)snprintf(name, HOLDER_NAME_SIZE, "pid %" PRIu64, pid);
}
