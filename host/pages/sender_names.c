/* SPDX-License-Identifier: MIT */
#include "host/pages/sender_names.h"

#include <stdlib.h>
#include <string.h>

struct sender_name {
    weir_pid pid;
    char name[PLACE_PATH_MAX + 16]; /* a path, `#` and a number; empty: not found */
};

void sender_names_init(struct sender_names *names, uint32_t max)
{
    *names = (struct sender_names){ .names = calloc((size_t)max + 1, sizeof *names->names) };
}

void sender_names_finish(struct sender_names *names)
{
    free(names->names);
}

void sender_names_want(struct sender_names *names, weir_pid pid)
{
    if (names->names && pid)
        names->names[names->count++].pid = pid;
}

static int by_pid(const void *left, const void *right)
{
    const struct sender_name *a = left, *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

static void sort(struct sender_names *names)
{
    uint32_t kept = 0;

    if (names->count > 0)
        qsort(names->names, names->count, sizeof *names->names, by_pid);
    for (uint32_t i = 0; i < names->count; i++)
        if (kept == 0 || names->names[i].pid != names->names[kept - 1].pid)
            names->names[kept++] = names->names[i];
    names->count = kept;
}

static struct sender_name *find(const struct sender_names *names, weir_pid pid)
{
    const struct sender_name wanted = { .pid = pid };

    if (names->count == 0)
        return NULL;
    return bsearch(&wanted, names->names, names->count, sizeof *names->names, by_pid);
}

static void name_actor(struct sender_names *names, weir_pid pid, const char *path)
{
    struct sender_name *sender = find(names, pid);

    if (sender)
        (void)snprintf(sender->name, sizeof sender->name, "%s", path);
}

/* Names workers only: pools below have their own names. Without memory they stay unnamed. */
static void name_workers(struct sender_names *names, struct pool *pool)
{
    uint32_t max = pool_members(pool, NULL, sizeof(struct weir_member), 0);
    struct weir_member *members = calloc((size_t)max + 1, sizeof *members);
    uint32_t count = members ? pool_members(pool, members, sizeof *members, max) : 0;

    for (uint32_t i = 0; i < count && i < max; i++) {
        struct sender_name *sender = find(names, members[i].pid);

        if (sender && members[i].state != WEIR_MEMBER_POOL)
            (void)snprintf(sender->name, sizeof sender->name, "%s#%u", pool_path(pool),
                           members[i].index);
    }
    free(members);
}

void sender_names_find_locked(struct sender_names *names, const struct overview *overview)
{
    const struct assembly *assembly = overview->assembly;
    const struct settings *settings = assembly->shared->settings;

    sort(names);
    for (uint32_t i = 0; i < settings->source_count && names->count > 0; i++)
        name_actor(names, source_pid(assembly->sources[i]), source_path(assembly->sources[i]));
    for (uint32_t i = 0; i < settings->pool_count && names->count > 0; i++) {
        name_actor(names, pool_pid(assembly->pools[i]), pool_path(assembly->pools[i]));
        name_workers(names, assembly->pools[i]);
    }
}

const char *sender_names_get(const struct sender_names *names, weir_pid pid)
{
    const struct sender_name *sender = find(names, pid);

    return sender && sender->name[0] ? sender->name : NULL;
}
