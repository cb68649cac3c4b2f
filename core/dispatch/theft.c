#include "dispatch/theft.h"

#include "dispatch/layout.h"

/* the most that a thread can have queued */
#define HAND_OVER_MAX (1 + RING_CAPACITY + SPAWN_DEQUE_CAPACITY)

struct schedulable *theft_try(struct executor *executor, uint32_t first)
{
    struct dispatcher *dispatcher = executor->dispatcher;
    uint32_t count = dispatcher_slot_count(dispatcher);

    for (uint32_t i = 0; i < count; i++) {
        struct executor *victim = dispatcher_executor(dispatcher, (first % count + i) % count);
        struct schedulable *taken;

        if (victim == executor)
            continue;
        taken = ring_steal(&victim->ring, &executor->ring);
        if (!taken)
            taken = spawn_deque_steal(&victim->spawned);
        if (taken) {
            atomic_fetch_add_explicit(&executor->steals, 1, memory_order_relaxed);
            return taken;
        }
    }
    return NULL;
}

bool theft_is_work_waiting(struct dispatcher *dispatcher)
{
    if (global_queue_count(&dispatcher->global) > 0)
        return true;
    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++) {
        struct executor *executor = dispatcher_executor(dispatcher, i);

        if (ring_count(&executor->ring) > 0 || spawn_deque_count(&executor->spawned) > 0)
            return true;
    }
    return false;
}

struct schedulable *theft_take_lifo(struct executor *executor)
{
    if (!atomic_load_explicit(&executor->lifo, memory_order_relaxed))
        return NULL;
    /* [L1] a thief may be faster. */
    return atomic_exchange_explicit(&executor->lifo, NULL, memory_order_acq_rel);
}

/* Takes the oldest spawned actor; retries when a thief takes it first. */
static struct schedulable *take_eldest(struct executor *executor)
{
    struct schedulable *eldest = NULL;

    while (!eldest && spawn_deque_count(&executor->spawned) > 0)
        eldest = spawn_deque_steal(&executor->spawned);
    return eldest;
}

uint32_t theft_hand_over(struct executor *executor)
{
    struct schedulable *schedulable;
    uint32_t count = 0;

    /* Bounded: a running turn may wake actors as fast as they are taken. */
    while (count < HAND_OVER_MAX &&
           ((schedulable = theft_take_lifo(executor)) ||
            (schedulable = ring_take(&executor->ring)) || (schedulable = take_eldest(executor)))) {
        global_queue_push(&executor->dispatcher->global, schedulable);
        count++;
    }
    return count;
}
