/* SPDX-License-Identifier: MIT */
#include "actor/stash.h"

#include "actor/front.h"
#include "actor/kept.h"
#include "actor/settle.h"

int stash_put(struct actor *actor, struct message *message)
{
    bool is_current = message == actor->current;
    struct actor_ext *ext;

    if ((!is_current && !kept_has(actor, message)) ||
        (message->public.reserved & MESSAGE_OUTSIDE_LEDGER))
        return WEIR_EINVALID;
    ext = actor_ext_get(actor);
    if (!ext)
        return WEIR_ENOMEM;
    if (ext->stash.count >= STASH_MAX)
        return WEIR_EFULL;
    if (is_current)
        actor->current = NULL;
    else
        kept_remove(actor, message);
    message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
    settle_hold(actor);
    message_list_append(&ext->stash, message);
    return 0;
}

uint32_t stash_give(struct actor *actor, uint32_t count)
{
    struct message_queue given = { 0 };
    struct message *message;
    uint32_t taken = 0;

    if (!actor->ext)
        return 0;
    for (; taken < count && (message = message_list_take(&actor->ext->stash)); taken++)
        message_queue_append(&given, message);
    front_prepend_all(actor, &given);
    return taken;
}

bool stash_has_leased(const struct actor *actor)
{
    const struct message_list *stash = actor->ext ? &actor->ext->stash : NULL;
    const struct message *message = stash ? message_queue_first(&stash->queue) : NULL;

    for (uint32_t i = 0; message && i < stash->count; i++) {
        if (message->public.reserved & MESSAGE_LEASED)
            return true;
        /* Relaxed: the owner's own list. */
        message = atomic_load_explicit(&message->next, memory_order_relaxed);
    }
    return false;
}

void stash_empty(struct actor *actor, struct message_list *had)
{
    struct message *message;

    while (actor->ext && (message = message_list_take(&actor->ext->stash))) {
        settle_unhold(actor);
        message->public.reserved |= MESSAGE_KEPT; /* selects the reason if it becomes dead */
        message_list_append(had, message);
    }
}
