/* SPDX-License-Identifier: MIT */
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

/* True when the worker may still choose the message that this one joins. */
static bool is_free(struct weir_kit *kit, const struct weir_message *message, const char *doing)
{
    return kit_message_is_owned(kit, message, doing) && !kit_origin_is_set(message) &&
           !((const struct kit_message *)(const void *)message)->joins;
}

int kit_origin_join(struct weir_self *self, struct weir_message *message, struct weir_message *with)
{
    struct weir_kit *kit = kit_of(self);
    enum kit_owner owner = ((struct kit_message *)(void *)with)->owner;

    if (!is_free(kit, message, "joined"))
        return WEIR_EINVALID;
    if (owner != KIT_IN_HAND && owner != KIT_KEPT) {
        kit_problem(kit, "a message was joined to one that is not in hand");
        return WEIR_EINVALID;
    }
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    ((struct kit_message *)(void *)message)->joins = with;
    return 0;
}

int kit_origin_detach(struct weir_self *self, struct weir_message *message)
{
    if (!is_free(kit_of(self), message, "detached"))
        return WEIR_EINVALID;
    ((struct kit_message *)(void *)message)->detached = true;
    return 0;
}

const struct weir_message *kit_origin_joined(struct weir_kit *kit, const struct weir_message *made,
                                             bool is_emitted)
{
    const struct kit_message *message = (const struct kit_message *)(const void *)made;
    const struct kit_message *in_hand = kit->in_hand;

    if (message->joins || !is_emitted || message->detached || message->has_origin)
        return message->joins;
    if (!in_hand || in_hand->owner != KIT_IN_HAND || in_hand->forwarded || in_hand->stashed)
        return NULL;
    return &in_hand->message;
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
