#include "actor/room.h"

#include <stdlib.h>

#include "actor/router.h"

static struct waiters *make_room(struct actor *actor)
{
    struct waiters *made = malloc(sizeof *made);
    struct waiters *present = NULL;

    if (!made)
        return NULL;
    waiters_init(made);
    /* seq_cst: before the second check of the admission word; see room_dissolve. */
    if (atomic_compare_exchange_strong_explicit(&actor->room, &present, made, memory_order_seq_cst,
                                                memory_order_acquire))
        return made;
    waiters_finish(made);
    free(made);
    return present;
}

struct waiters *room_of(struct actor *actor)
{
    struct waiters *present;

    if (actor->router)
        return actor->router->waiters;
    /* Acquire pairs with the exchange in make_room. */
    present = atomic_load_explicit(&actor->room, memory_order_acquire);
    return present ? present : make_room(actor);
}

void room_wake(struct actor *actor, uint32_t max, struct executor *executor)
{
    /* seq_cst: after the read-modify-write that freed the place, as waiters.h asks for. */
    struct waiters *room = atomic_load_explicit(&actor->room, memory_order_seq_cst);

    if (room && waiters_any(room))
        waiters_wake(room, max, executor);
}

void room_dissolve(struct actor *actor, struct executor *executor)
{
    /* seq_cst: after the word was ended. A waiter that makes the list later finds the word
     * ended. */
    struct waiters *room = atomic_load_explicit(&actor->room, memory_order_seq_cst);

    if (room)
        waiters_dissolve(room, executor);
}

void room_destroy(struct actor *actor)
{
    /* Relaxed: after the grace period no other thread has the actor. */
    struct waiters *room = atomic_load_explicit(&actor->room, memory_order_relaxed);

    if (!room)
        return;
    waiters_finish(room);
    free(room);
    atomic_store_explicit(&actor->room, NULL, memory_order_relaxed);
}
