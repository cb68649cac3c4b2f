#include "kit_origin.h"

#include "kit_message.h"
#include "kit_turn.h"

int kit_origin_set(struct weir_self *self, struct weir_message *message, uint64_t token)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *made = (struct kit_message *)(void *)message;

    if (!kit->behaviour.settled || !kit_message_is_owned(kit, message, "given an origin"))
        return WEIR_EINVALID;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    made->has_origin = true;
    made->token = token;
    return 0;
}

static struct kit_message *find_open(struct weir_kit *kit, uint64_t token)
{
    struct kit_message *found = kit->messages;

    while (found && !(found->has_origin && found->token == token && found->owner == KIT_SENT))
        found = found->next;
    return found;
}

int weir_kit_tell(struct weir_kit *kit, const struct weir_outcome *outcome)
{
    struct kit_message *message = find_open(kit, outcome->token);
    struct weir_outcome whole = *outcome;

    if (!message || !kit->is_open)
        return WEIR_EUNKNOWN;
    message->has_origin = false;
    if (whole.attempt == 0)
        whole.attempt = message->message.attempt;
    if (!whole.reason)
        whole.reason = whole.result == WEIR_OUTCOME_DEAD ? "rejected" : "";
    if (!whole.detail)
        whole.detail = "";
    kit_turn_begin(kit);
    kit->behaviour.settled(&kit->self, kit->state, &whole);
    kit_turn_end(kit);
    return 0;
}
