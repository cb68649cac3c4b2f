/* SPDX-License-Identifier: MIT */
#include "actor/doze.h"

#include "actor/actor_ext.h"
#include "actor/place.h"
#include "actor/wanted.h"

/* At the beat the actor drops messages that are not wanted any more, and gives others to idle
 * members. */
static void arm_beat(struct actor *actor)
{
    if (actor_ext_get(actor)) /* without memory it sleeps on */
        actor_ext_arm(actor, executor_time(actor->executor) + WANTED_BEAT_NS);
}

bool doze(struct actor *actor)
{
    struct owner *owner = place_member_of(actor);
    bool shares = owner && owner->ops->back_up(actor->place);
    bool waits = mailbox_waiting(&actor->mailbox) > 0;

    if (waits && owner)
        arm_beat(actor);
    if (!shares || waits || mailbox_is_unbuffered(&actor->mailbox))
        return mailbox_try_mute(&actor->mailbox);
    actor_set_busy(actor, ACTOR_DOZES);
    return mailbox_try_idle(&actor->mailbox);
}
