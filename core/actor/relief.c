#include "actor/relief.h"

#include "actor/lifecycle.h"
#include "actor/place.h"

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

static void relieve(struct actor *actor, struct executor *by)
{
    const struct owner *owner = place_member_of(actor);

    if (owner && owner->ops->relieve && actor_state(actor) == ACTOR_OPEN)
        owner->ops->relieve(actor->place, by);
}

void relief_look(struct executor *slow, struct executor *by)
{
    if (!has_backlog(running(slow)) || !executor_try_hold(slow))
        return;
    reader_online(&by->reader);
    if (has_backlog(running(slow))) /* it is in a callback, and stays there */
        relieve(running(slow), by);
    executor_release(slow);
    reader_rest(&by->reader);
}
