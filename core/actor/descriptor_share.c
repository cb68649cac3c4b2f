/* SPDX-License-Identifier: MIT */
#include "actor/descriptor_share.h"

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/place.h"
#include "actor/runtime.h"

/* The members of an owner count together. */
static const void *user_of(const struct actor *actor)
{
    const struct owner *owner = place_member_of(actor);

    return owner ? (const void *)owner : actor;
}

static int set(struct actor *actor, uint32_t count)
{
    struct actor_ext *ext = actor_ext_get(actor);
    int status;

    if (!ext)
        return WEIR_ENOMEM;
    if (ext->descriptors == count)
        return 0;
    if (ext->descriptors == 0)
        ext->descriptors_of = user_of(actor);
    status = descriptors_set(&actor->runtime->descriptors, ext->descriptors_of, ext->descriptors,
                             count);
    if (status == 0)
        ext->descriptors = count;
    return status;
}

void descriptor_share_end(struct actor *actor)
{
    (void)set(actor, 0); /* a smaller share is never refused */
}

int host_set_descriptors(struct weir_self *self, uint32_t count)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : set(actor, count);

    callback_leave_host(actor);
    return status;
}
