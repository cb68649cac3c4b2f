/* SPDX-License-Identifier: MIT */
#include "kit_stash.h"

#include "kit_front.h"
#include "kit_message.h"

#define STASH_MAX 256 /* as in the host */

/* The oldest message of an owner: the list has the newest first. */
static struct kit_message *oldest(const struct weir_kit *kit, enum kit_owner owner)
{
    struct kit_message *found = NULL;

    for (struct kit_message *message = kit->messages; message; message = message->next)
        if (message->owner == owner)
            found = message;
    return found;
}

static size_t count_of(const struct weir_kit *kit, enum kit_owner owner)
{
    size_t count = 0;

    for (const struct kit_message *message = kit->messages; message; message = message->next)
        count += message->owner == owner;
    return count;
}

int kit_stash_put(struct weir_self *self, struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *in_hand = (struct kit_message *)(void *)message;

    if ((in_hand->owner != KIT_IN_HAND && in_hand->owner != KIT_KEPT) || in_hand->forwarded ||
        in_hand->stashed) {
        kit_problem(kit, "a message was stashed that is neither in hand nor kept");
        return WEIR_EINVALID;
    }
    if (message->lane != WEIR_NORMAL)
        return WEIR_EINVALID;
    if (weir_kit_stashed_count(kit) >= STASH_MAX)
        return WEIR_EFULL;
    in_hand->stashed = true;
    if (in_hand->owner == KIT_KEPT) /* no verdict of `handle` follows */
        in_hand->owner = KIT_STASHED;
    return 0;
}

uint32_t kit_stash_give(struct weir_self *self, uint32_t count)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *message, **link = &kit->front;
    uint32_t given = 0;

    while (given < count && (message = oldest(kit, KIT_STASHED))) {
        link = kit_front_insert(link, message);
        given++;
    }
    return given;
}

void kit_stash_close(struct weir_kit *kit)
{
    for (struct kit_message *message = kit->messages; message; message = message->next)
        if (message->owner == KIT_STASHED)
            kit_message_give(message, KIT_SETTLED);
}

size_t weir_kit_stashed_count(const struct weir_kit *kit)
{
    return count_of(kit, KIT_STASHED);
}
