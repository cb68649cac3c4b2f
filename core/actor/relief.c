/* SPDX-License-Identifier: MIT */
#include "actor/relief.h"

#include "actor/lifecycle.h"
#include "actor/place.h"
#include "actor/wanted.h"

static struct actor *running(struct executor *executor)
{
    /* Relaxed: a hint, until the thread is held. */
    return atomic_load_explicit(&executor->current, memory_order_relaxed);
}

/* The memory of an actor is never given back, so it can be read also when the actor has ended. */
static bool has_backlog(struct actor *actor)
{
    return actor && mailbox_waiting(&actor->mailbox) > 0;
}

/* It is checked for a taker that has waited for too long. */
static bool has_late_offer(struct executor *slow, struct executor *by)
{
    /* Relaxed: as above. */
    uint64_t since_ns = atomic_load_explicit(&slow->offers_ns, memory_order_relaxed);

    return since_ns != 0 && executor_time(by) >= since_ns + WANTED_BEAT_NS;
}

static bool is_relievable(struct executor *slow, struct executor *by)
{
    return has_backlog(running(slow)) || (running(slow) && has_late_offer(slow, by));
}

static void relieve(struct owner *owner, struct actor *actor, struct executor *by,
                    struct message_list *out)
{
    if (owner && owner->ops->relieve && actor_state(actor) == ACTOR_OPEN)
        owner->ops->relieve(actor->place, by, out);
}

void relief_look(struct executor *slow, struct executor *by)
{
    struct message_list unwanted = { 0 };
    struct owner *owner = NULL;

    if (!is_relievable(slow, by) || !executor_try_hold(slow))
        return;
    reader_online(&by->reader);
    if (is_relievable(slow, by)) { /* it is in a callback, and stays there */
        owner = place_member_of(running(slow));
        relieve(owner, running(slow), by, &unwanted);
    }
    executor_release(slow);
    if (unwanted.count > 0)
        owner->ops->drop(owner, by, &unwanted);
    reader_rest(&by->reader);
}
