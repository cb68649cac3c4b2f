/* SPDX-License-Identifier: MIT */
#include "kit_actor.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 127 /* as in core */

/* --- names ------------------------------------------------------------------------------------ */

static struct kit_name **find(struct weir_kit *kit, const char *name)
{
    struct kit_name **link = &kit->names;

    while (*link && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

static void remove_name(struct kit_name **link)
{
    struct kit_name *name = *link;

    *link = name->next;
    free(name);
}

static bool is_fit(const char *name)
{
    return name && name[0] && strlen(name) <= NAME_MAX_BYTES;
}

static void add(struct weir_kit *kit, const char *name, weir_pid pid, bool own)
{
    size_t size = strlen(name) + 1;
    struct kit_name *known = kit_take(sizeof *known + size);

    known->pid = pid;
    known->own = own;
    memcpy(known->name, name, size);
    known->next = kit->names;
    kit->names = known;
}

void weir_kit_name(struct weir_kit *kit, const char *name, weir_pid pid)
{
    add(kit, name, pid, false);
}

int kit_actor_lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_name *known = *find(kit, name);

    if (!known || (known->own && !kit->is_open))
        return WEIR_EUNKNOWN;
    *out_pid = known->pid;
    return 0;
}

int kit_actor_name(struct weir_self *self, const char *name)
{
    struct weir_kit *kit = kit_of(self);

    if (!is_fit(name))
        return WEIR_EINVALID;
    if (*find(kit, name))
        return WEIR_EEXISTS;
    add(kit, name, kit_pid(kit), true);
    return 0;
}

int kit_actor_rename(struct weir_self *self, const char *from, const char *to)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_name **old;

    if (!from || !is_fit(to))
        return WEIR_EINVALID;
    old = find(kit, from);
    if (!*old || !(*old)->own)
        return WEIR_EUNKNOWN;
    if (*find(kit, to))
        return WEIR_EEXISTS;
    remove_name(old);
    return kit_actor_name(self, to);
}

/* --- links and monitors ----------------------------------------------------------------------- */

/* Core reports an ended or unknown actor with a message; the test does so here. */
int kit_actor_link(struct weir_self *self, weir_pid other)
{
    (void)self;
    (void)other;
    return 0;
}

int kit_actor_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_monitor *monitor = kit_take(sizeof *monitor);

    (void)other;
    *monitor = (struct kit_monitor){ ++kit->last_number, kit->monitors };
    kit->monitors = monitor;
    if (out_monitor)
        *out_monitor = monitor->number;
    return 0;
}

int kit_actor_demonitor(struct weir_self *self, uint64_t number)
{
    struct kit_monitor **link = &kit_of(self)->monitors;
    struct kit_monitor *monitor;

    while (*link && (*link)->number != number)
        link = &(*link)->next;
    monitor = *link;
    if (!monitor)
        return WEIR_EUNKNOWN;
    *link = monitor->next;
    free(monitor);
    return 0;
}

int kit_actor_trap_exits(struct weir_self *self, bool on)
{
    (void)self;
    (void)on;
    return 0;
}

int kit_actor_exit(struct weir_self *self, weir_pid other, enum weir_end_reason why)
{
    struct weir_kit *kit = kit_of(self);

    if (other == kit_pid(kit))
        kit->own_end = (int)why;
    return other ? 0 : WEIR_EUNKNOWN;
}

void kit_actor_close(struct weir_kit *kit)
{
    struct kit_name **link = &kit->names;

    while (*link) {
        if ((*link)->own)
            remove_name(link);
        else
            link = &(*link)->next;
    }
    while (kit->monitors) {
        struct kit_monitor *next = kit->monitors->next;

        free(kit->monitors);
        kit->monitors = next;
    }
}

void kit_actor_finish(struct weir_kit *kit)
{
    while (kit->names)
        remove_name(&kit->names);
}
