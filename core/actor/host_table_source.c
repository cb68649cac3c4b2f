#include "actor/host_table_source.h"

#include "actor/place.h"

int host_leave_position(struct weir_self *self, const void *data, size_t size)
{
    struct actor *actor = actor_of_self(self);
    int status;

    if (actor->kind != ACTOR_SOURCE)
        return WEIR_ENOTALLOWED;
    status = position_set(&actor->place->left, data, size);
    if (status != 0)
        actor->place->left.lost = true;
    return status;
}
