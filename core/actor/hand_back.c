#include "actor/hand_back.h"

#include "actor/place.h"
#include "actor/settle.h"

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
