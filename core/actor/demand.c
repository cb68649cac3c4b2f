/* SPDX-License-Identifier: MIT */
#include "actor/demand.h"

#include "actor/callback.h"

static int set(struct actor *actor, uint32_t count)
{
    struct place *place;

    if (actor->kind == ACTOR_SOURCE)
        return WEIR_ENOTALLOWED;
    if (count > actor->spec->in_hand_max)
        return WEIR_EINVALID;
    place = place_get(actor);
    if (!place)
        return WEIR_ENOMEM;
    demand_reset(actor);
    place->demand = count;
    if (count < actor->spec->in_hand_max)
        actor->flags |= ACTOR_DEMANDS;
    return 0;
}

int host_set_demand(struct weir_self *self, uint32_t count)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : set(actor, count);

    callback_leave_host(actor);
    return status;
}
