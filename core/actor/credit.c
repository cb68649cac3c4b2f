/* SPDX-License-Identifier: MIT */
#include "actor/credit.h"

#include "actor/fullness.h"
#include "actor/place.h"
#include "actor/room_queue.h"

/* The number of places freed in this turn that are still free: more wake-ups would let a later
 * waiter overtake. A place that was taken again wakes the next waiter when its message is popped.
 * */
static uint32_t still_free(struct actor *actor, uint32_t places)
{
    uint32_t room = mailbox_room(&actor->mailbox);

    return room < places ? room : places;
}

static bool is_owner_waited_for(const struct owner *owner)
{
    for (; owner; owner = owner->above)
        if (wait_queue_any(owner->waiters))
            return true;
    return false;
}

/* seq_cst as wait_queue.h requires: after the read-modify-write that ended the turn. */
static bool is_waited_for(struct actor *actor, const struct owner *owner)
{
    return atomic_load_explicit(&actor->room_queue, memory_order_seq_cst) ||
           is_owner_waited_for(owner);
}

void credit_return(struct credit *credit, struct actor *actor, struct owner *owner,
                   struct executor *executor)
{
    const struct credit returned = *credit;
    uint32_t places;

    *credit = (struct credit){ 0 };
    /* The marks end first: a new waiter checks for a mark after it has joined. */
    fullness_end(owner);
    if (!is_waited_for(actor, owner))
        return;
    places = returned.places ? still_free(actor, returned.places) : 0;
    room_queue_wake(actor, places, executor);
    if (owner)
        owner->ops->credit(owner, places, returned.pulled, executor);
}

void credit_pulled(struct owner *owner, struct executor *executor)
{
    fullness_end(owner);
    if (is_owner_waited_for(owner))
        owner->ops->credit(owner, 0, 1, executor);
}

__attribute__((noinline)) void credit_unmark(const struct credit *credit, struct actor *actor)
{
    struct owner *owner = place_member_of(actor);

    if (!credit_any(credit) || !fullness_is_watched(owner))
        return;
    (void)atomic_fetch_or_explicit(&actor->mailbox.word, 0, memory_order_seq_cst);
    fullness_end(owner);
}

void credit_return_now(struct credit *credit, struct actor *actor, struct executor *executor)
{
    if (!credit_any(credit))
        return;
    (void)atomic_fetch_or_explicit(&actor->mailbox.word, 0, memory_order_seq_cst);
    credit_return(credit, actor, place_member_of(actor), executor);
}
