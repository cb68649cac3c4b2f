/* SPDX-License-Identifier: MIT */
#include "actor/host_table_source.h"

#include "actor/source.h"
#include "actor/wiring.h"

int host_leave_position(struct weir_self *self, const void *data, size_t size)
{
    struct actor *actor = actor_of_self(self);
    struct position *left;
    int status;

    if (actor->kind != ACTOR_SOURCE)
        return WEIR_ENOTALLOWED;
    left = &source_of(actor->place)->left;
    status = position_set(left, data, size);
    if (status != 0)
        left->lost = true;
    return status;
}

int host_target(struct weir_self *self, uint32_t output, weir_pid *out_pid)
{
    struct actor *actor = actor_of_self(self);
    const struct wiring *wiring = actor->place ? wiring_get(actor->place->wiring) : NULL;

    if (!wiring || output >= wiring->count)
        return WEIR_EINVALID;
    if (wiring->bindings[output].target == 0)
        return WEIR_EUNKNOWN;
    *out_pid = wiring->bindings[output].target;
    return 0;
}
