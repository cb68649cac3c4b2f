/* SPDX-License-Identifier: MIT */
#include "actor/host_table_watch.h"

#include "actor/callback.h"
#include "actor/watched.h"

int host_watch(struct weir_self *self, int descriptor, uint32_t events, weir_ready *ready,
               void *context, uint64_t *out_watch)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor)
                     ? WEIR_ETERMINATED
                     : watched_begin(actor, descriptor, events, ready, context, out_watch);

    callback_leave_host(actor);
    return status;
}

int host_unwatch(struct weir_self *self, uint64_t watch)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : watched_end(actor, watch);

    callback_leave_host(actor);
    return status;
}
