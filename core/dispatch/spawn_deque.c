/* SPDX-License-Identifier: MIT */
#include "dispatch/spawn_deque.h"

#include <stddef.h>

#define MASK (SPAWN_DEQUE_CAPACITY - 1)

void spawn_deque_init(struct spawn_deque *deque)
{
    atomic_init(&deque->head, 0);
    atomic_init(&deque->tail, 0);
    for (uint32_t i = 0; i < SPAWN_DEQUE_CAPACITY; i++)
        atomic_init(&deque->slots[i], NULL);
}

bool spawn_deque_push(struct spawn_deque *deque, struct schedulable *schedulable)
{
    uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_relaxed);
    /* [B1] pairs with the exchange of a thief: it has read the slot before the owner overwrites
     * it. */
    uint32_t head = atomic_load_explicit(&deque->head, memory_order_acquire);

    if (tail - head > MASK)
        return false;
    /* Relaxed: a thief may read a slot that is written; its exchange then fails. */
    atomic_store_explicit(&deque->slots[tail & MASK], schedulable, memory_order_relaxed);
    /* [B2] publishes the slot and its schedulable; seq_cst as in ring_push: a parking thread reads
     * the tails. */
    atomic_store_explicit(&deque->tail, tail + 1, memory_order_seq_cst);
    return true;
}

/* The last one, which thieves may take, too. */
static struct schedulable *take_last(struct spawn_deque *deque, uint32_t head,
                                     struct schedulable *schedulable)
{
    if (!atomic_compare_exchange_strong_explicit(&deque->head, &head, head + 1,
                                                 memory_order_seq_cst, memory_order_relaxed))
        return NULL;
    return schedulable;
}

struct schedulable *spawn_deque_pop(struct spawn_deque *deque)
{
    uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_relaxed);
    struct schedulable *schedulable;
    uint32_t head;

    if (spawn_deque_is_empty(deque))
        return NULL;
    tail--;
    /* [B3] seq_cst, both: the owner takes the youngest back and then reads the thieves' head; a
     * thief reads head and then tail. One of them sees the other. */
    atomic_store_explicit(&deque->tail, tail, memory_order_seq_cst);
    head = atomic_load_explicit(&deque->head, memory_order_seq_cst);
    schedulable = atomic_load_explicit(&deque->slots[tail & MASK], memory_order_relaxed);
    if ((int32_t)(tail - head) > 0)
        return schedulable;
    schedulable = tail == head ? take_last(deque, head, schedulable) : NULL;
    /* Empty now, whether the owner or a thief took the last one. */
    atomic_store_explicit(&deque->tail, tail + 1, memory_order_relaxed);
    return schedulable;
}

struct schedulable *spawn_deque_steal(struct spawn_deque *deque)
{
    /* [B3] */
    uint32_t head = atomic_load_explicit(&deque->head, memory_order_seq_cst);
    /* [B2] the slots below are written. */
    uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_seq_cst);
    struct schedulable *schedulable;

    if ((int32_t)(tail - head) <= 0)
        return NULL;
    schedulable = atomic_load_explicit(&deque->slots[head & MASK], memory_order_relaxed);
    /* [B1] */
    if (!atomic_compare_exchange_strong_explicit(&deque->head, &head, head + 1,
                                                 memory_order_seq_cst, memory_order_relaxed))
        return NULL;
    return schedulable;
}

bool spawn_deque_aged(struct spawn_deque *deque, struct spawn_note *note, uint64_t now_ns,
                      uint64_t age_ns)
{
    /* Relaxed: a guess, which a theft checks. */
    uint32_t head = atomic_load_explicit(&deque->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_relaxed);
    bool is_any = (int32_t)(tail - head) > 0;

    if (!is_any || !note->is_any || note->eldest != head) {
        *note = (struct spawn_note){ now_ns, head, is_any };
        return false;
    }
    return now_ns - note->since_ns >= age_ns;
}

uint32_t spawn_deque_count(struct spawn_deque *deque)
{
    uint32_t head = atomic_load_explicit(&deque->head, memory_order_relaxed);
    /* [B2] seq_cst: a parking thread reads it. */
    uint32_t tail = atomic_load_explicit(&deque->tail, memory_order_seq_cst);

    return (int32_t)(tail - head) > 0 ? tail - head : 0;
}
