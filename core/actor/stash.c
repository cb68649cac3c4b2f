#include "actor/stash.h"

#include "actor/place.h"
#include "actor/settle.h"

int stash_put(struct actor *actor, struct message *message)
{
    if (message != actor->current || !actor->place || (message->public.reserved & MESSAGE_ASIDE))
        return WEIR_EINVALID;
    if (actor->place->stash.count >= STASH_MAX)
        return WEIR_EFULL;
    actor->current = NULL;
    settle_hold(actor);
    message_list_append(&actor->place->stash, message);
    return 0;
}

uint32_t stash_give(struct actor *actor, uint32_t count)
{
    struct message_list given = { 0 };
    struct message *message;

    if (!actor->place)
        return 0;
    while (given.count < count && (message = message_list_take(&actor->place->stash)))
        message_list_append(&given, message);
    count = given.count;
    while ((message = message_list_take(&actor->front)))
        message_list_append(&given, message);
    actor->front = given;
    return count;
}

void stash_empty(struct actor *actor, struct message_list *had)
{
    struct message *message;

    while (actor->place && (message = message_list_take(&actor->place->stash))) {
        settle_unhold(actor);
        message->public.reserved |= MESSAGE_KEPT; /* for the reason, should it be dead */
        message_list_append(had, message);
    }
}
