/* SPDX-License-Identifier: MIT */
#include "actor/host_table_children.h"

#include "actor/callback.h"
#include "actor/child.h"
#include "actor/children.h"

int host_spawn(struct weir_self *self, const struct weir_spawn_options *options,
               weir_pid *out_child)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : child_spawn(actor, options, out_child);

    callback_leave_host(actor);
    return status;
}

int host_stop(struct weir_self *self, weir_pid child, bool now)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : children_end_one(actor, child, now);

    callback_leave_host(actor);
    return status;
}

weir_pid host_parent(struct weir_self *self)
{
    return children_parent(actor_of_self(self));
}
