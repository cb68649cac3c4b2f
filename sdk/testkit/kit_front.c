/* SPDX-License-Identifier: MIT */
#include "kit_front.h"

#include "kit_turn.h"

struct kit_message **kit_front_insert(struct kit_message **link, struct kit_message *message)
{
    message->owner = KIT_READY;
    message->behind = *link;
    *link = message;
    return &message->behind;
}

static struct kit_message *take(struct weir_kit *kit)
{
    struct kit_message *first = kit->front;

    kit->row = NULL;
    if (first)
        kit->front = first->behind;
    return first;
}

/* The worker has the message: it runs in `handle`, or is kept. */
static bool is_had(const struct weir_kit *kit, const struct weir_message *message)
{
    const struct kit_message *found = kit->messages;

    while (found && &found->message != message)
        found = found->next;
    if (!found)
        return false;
    return found->owner == KIT_KEPT ||
           (found->owner == KIT_IN_HAND && !found->forwarded && !found->stashed);
}

int kit_front_put_back(struct weir_self *self, struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *back = (struct kit_message *)(void *)message;

    if (kit->is_closing) /* in a host what was kept is dead by now */
        return WEIR_EINVALID;
    if (!is_had(kit, message)) {
        kit_problem(kit, "a message was put back that the worker does not have");
        return WEIR_EINVALID;
    }
    if (message->lane != WEIR_NORMAL)
        return WEIR_EINVALID;
    (void)kit_front_insert(kit->row ? &kit->row->behind : &kit->front, back);
    kit->row = back;
    kit->put_back_count++;
    return 0;
}

size_t weir_kit_put_back_count(const struct weir_kit *kit)
{
    return kit->put_back_count;
}

/* Not those that come while it runs: a worker may put back again what it gets. */
size_t weir_kit_handle_unstashed(struct weir_kit *kit)
{
    struct kit_message *message;
    size_t count = 0;

    for (message = kit->is_open ? kit->front : NULL; message; message = message->behind)
        count++;
    for (size_t i = 0; i < count && (message = take(kit)); i++) {
        message->owner = KIT_IN_HAND;
        message->stashed = false;
        (void)kit_turn_handle(kit, message);
    }
    return count;
}
