/* SPDX-License-Identifier: MIT */
#include "actor/hand_back.h"

#include "actor/actor_ext.h"
#include "actor/backlog.h"
#include "actor/place.h"
#include "actor/settle.h"

/* Between two tries to find room; doubled after each. */
#define PAUSE_NS_MIN 1000000u
#define PAUSE_NS_MAX (64 * PAUSE_NS_MIN)

static bool may_go(const struct actor *actor, const struct message *message)
{
    return place_member_of(actor) && !message_is_for_one(message) &&
           !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER) &&
           (actor->leaving == LEAVING_FINISHES || actor->leaving == LEAVING_REROUTES);
}

int hand_back_pass(struct actor *actor, struct message *message)
{
    struct place *place = actor->place;
    int status;

    if (!may_go(actor, message))
        return WEIR_EUNSUPPORTED;
    status = place->owner->ops->hand_back(place, message, actor->leaving == LEAVING_FINISHES);
    if (status == 0)
        settle_moved(actor);
    return status;
}

bool hand_back_try(struct actor *actor, struct message *message)
{
    return hand_back_pass(actor, message) == 0;
}

static uint64_t longer_pause(uint64_t pause_ns)
{
    if (pause_ns == 0)
        return PAUSE_NS_MIN;
    return pause_ns < PAUSE_NS_MAX ? 2 * pause_ns : pause_ns;
}

void hand_back_all(struct actor *actor)
{
    struct place *place = place_member_of(actor) ? actor->place : NULL;
    bool has_rest = place && backlog_pass(actor, hand_back_pass) == WEIR_EFULL;

    if (!place)
        return;
    /* Without memory for a timer it takes the messages itself. */
    if (!has_rest || actor->leaving != LEAVING_REROUTES || !actor_ext_get(actor)) {
        place->room_pause_ns = 0;
        return;
    }
    place->room_pause_ns = longer_pause(place->room_pause_ns);
    actor_ext_arm(actor, executor_look_at_clock(actor->executor) + place->room_pause_ns);
}

void hand_back_time(struct actor *actor)
{
    if (actor->leaving == LEAVING_REROUTES)
        hand_back_all(actor);
}
