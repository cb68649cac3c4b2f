/* SPDX-License-Identifier: MIT */
#include "pool/reopening.h"

#include "pool/pool.h"

static void signal_places_locked(struct list *places, struct executor *executor)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        /* Relaxed: children that are being made now open their files afterwards. */
        if (place->made_of->behaviour->reopen ||
            atomic_load_explicit(&place->children, memory_order_relaxed))
            (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                               SIGNAL_REOPEN);
    }
}

void reopening_signal(struct pool *pool, struct executor *executor)
{
    lock_acquire(&pool->lock);
    signal_places_locked(&pool->places, executor);
    signal_places_locked(&pool->leavers, executor);
    signal_places_locked(&pool->prepared, executor);
    for (uint32_t i = 0; i < pool->child_count; i++)
        reopening_signal(pool->children[i], executor);
    lock_release(&pool->lock);
}
