/* SPDX-License-Identifier: MIT */
#include "kit_child.h"

#include <stdlib.h>
#include <string.h>

/* The size in the first version, as in core. A plugin that sets a smaller one has not started from
 * WEIR_SPAWN_OPTIONS. */
#define BEHAVIOUR_SIZE_MIN (offsetof(struct weir_behaviour, close) + sizeof(void (*)(void)))
#define PID_OF_CHILD ((weir_pid)0x10000) /* of the first child; larger than those of workers */

struct kit_child {
    struct weir_kit_child child; /* first */
    struct kit_child *next;
};

static size_t count_living(const struct weir_kit *kit)
{
    size_t count = 0;

    for (const struct kit_child *child = kit->children; child; child = child->next)
        count += !child->child.ended;
    return count;
}

static void append(struct weir_kit *kit, struct kit_child *child)
{
    struct kit_child **end = &kit->children;

    while (*end)
        end = &(*end)->next;
    *end = child;
    child->child.pid = PID_OF_CHILD + kit->child_count++;
}

int kit_child_spawn(struct weir_self *self, const struct weir_spawn_options *options,
                    weir_pid *out_child)
{
    const struct weir_behaviour *behaviour = options->behaviour;
    struct weir_kit *kit = kit_of(self);
    struct kit_child *child;
    void *settings;

    if (options->size < sizeof *options || options->behaviour_size < BEHAVIOUR_SIZE_MIN ||
        !behaviour || !behaviour->handle)
        return WEIR_EINVALID;
    if (kit->is_closing)
        return WEIR_ECLOSED;
    if (count_living(kit) >= WEIR_CHILDREN_MAX)
        return WEIR_EFULL;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    settings = kit_take(behaviour->settings_size ? behaviour->settings_size : 1);
    if (options->settings)
        memcpy(settings, options->settings, behaviour->settings_size);
    child = kit_take(sizeof *child);
    child->child = (struct weir_kit_child){ .behaviour = behaviour->name,
                                            .settings = settings,
                                            .limit = options->limit,
                                            .flags = options->flags };
    append(kit, child);
    *out_child = child->child.pid;
    return 0;
}

static struct kit_child *find(struct weir_kit *kit, weir_pid pid)
{
    struct kit_child *child = kit->children;

    while (child && (child->child.pid != pid || child->child.ended))
        child = child->next;
    return child;
}

int kit_child_stop(struct weir_self *self, weir_pid pid, bool now)
{
    struct kit_child *child = find(kit_of(self), pid);

    if (!child)
        return WEIR_EUNKNOWN;
    child->child.stopped = true;
    child->child.stopped_now |= now;
    return 0;
}

weir_pid kit_child_parent(struct weir_self *self)
{
    return kit_of(self)->parent;
}

void kit_child_end_all(struct weir_kit *kit)
{
    for (struct kit_child *child = kit->children; child; child = child->next)
        child->child.ended = true;
}

void kit_child_finish(struct weir_kit *kit)
{
    for (struct kit_child *child = kit->children, *next; child; child = next) {
        next = child->next;
        free((void *)(uintptr_t)child->child.settings);
        free(child);
    }
}

/* --- for the test ----------------------------------------------------------------------------- */

size_t weir_kit_child_count(const struct weir_kit *kit)
{
    return kit->child_count;
}

const struct weir_kit_child *weir_kit_child(const struct weir_kit *kit, size_t index)
{
    const struct kit_child *child = kit->children;

    while (child && index-- > 0)
        child = child->next;
    return child ? &child->child : NULL;
}

int weir_kit_end_child(struct weir_kit *kit, weir_pid pid)
{
    struct kit_child *child = find(kit, pid);

    if (!child)
        return WEIR_EUNKNOWN;
    child->child.ended = true;
    return 0;
}

void weir_kit_parent(struct weir_kit *kit, weir_pid parent)
{
    kit->parent = parent;
}
