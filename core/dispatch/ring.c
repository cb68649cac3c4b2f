/* SPDX-License-Identifier: MIT */
#include "dispatch/ring.h"

#include <stddef.h>

void ring_init(struct ring *ring, uint32_t capacity)
{
    ring->mask = capacity - 1;
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    for (uint32_t i = 0; i < RING_CAPACITY; i++)
        atomic_init(&ring->slots[i], NULL);
}

bool ring_push(struct ring *ring, struct schedulable *schedulable)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    /* [R1] pairs with the exchange of a thief: its copies are made before the owner overwrites the
     * slot. */
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

    if (tail - head > ring->mask)
        return false;
    /* Relaxed: a thief may read a slot that is written; its exchange then fails. */
    atomic_store_explicit(&ring->slots[tail & ring->mask], schedulable, memory_order_relaxed);
    /* [R2] publishes the slot and its schedulable to thieves; seq_cst, since the pushing thread
     * reads next which threads are parked, while a parking thread reads the tails: one of them sees
     * the other. */
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_seq_cst);
    return true;
}

struct schedulable *ring_pop(struct ring *ring)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

    while (head != tail) {
        struct schedulable *schedulable = atomic_load_explicit(&ring->slots[head & ring->mask],
                                                               memory_order_relaxed);

        if (atomic_compare_exchange_weak_explicit(&ring->head, &head, head + 1,
                                                  memory_order_acq_rel, memory_order_acquire))
            return schedulable;
    }
    return NULL;
}

struct schedulable *ring_take(struct ring *ring)
{
    for (;;) {
        /* Head first: then `tail` is not older, and the difference is not negative. */
        uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        /* [R2] the slots up to here are written. */
        uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        struct schedulable *schedulable;

        if (head == tail)
            return NULL;
        schedulable = atomic_load_explicit(&ring->slots[head & ring->mask], memory_order_relaxed);
        /* [R1] */
        if (atomic_compare_exchange_strong_explicit(&ring->head, &head, head + 1,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return schedulable;
    }
}

struct schedulable *ring_steal(struct ring *from, struct ring *into, uint32_t most)
{
    /* Acquire as in ring_push: other thieves have copied the entries that are overwritten. */
    uint32_t own_head = atomic_load_explicit(&into->head, memory_order_acquire);
    uint32_t own_tail = atomic_load_explicit(&into->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&from->head, memory_order_acquire);
    /* [R2] the slots up to here are written. */
    uint32_t tail = atomic_load_explicit(&from->tail, memory_order_acquire);
    uint32_t count = tail - head;

    count -= count / 2;
    /* More than half a ring: head is old. */
    if (count > (from->mask + 1) / 2 + 1)
        return NULL;
    if (count > most)
        count = most;
    if (count == 0 || count > into->mask + 1 - (own_tail - own_head))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct schedulable *schedulable = atomic_load_explicit(
            &from->slots[(head + i) & from->mask], memory_order_relaxed);

        atomic_store_explicit(&into->slots[(own_tail + i) & into->mask], schedulable,
                              memory_order_relaxed);
    }
    /* [R1] release: the copies are made before the owner may write these slots again. */
    if (!atomic_compare_exchange_strong_explicit(&from->head, &head, head + count,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return NULL;
    count--;
    if (count > 0)
        atomic_store_explicit(&into->tail, own_tail + count, memory_order_release);
    return atomic_load_explicit(&into->slots[(own_tail + count) & into->mask],
                                memory_order_relaxed);
}

uint32_t ring_aged(struct ring *ring, struct ring_note *note, uint64_t now_ns, uint64_t age_ns)
{
    /* Relaxed: a guess, which a theft checks. Head first: then `tail` is not older. */
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t left = note->tail - head;

    if (left == 0 || left > tail - head) {
        *note = (struct ring_note){ now_ns, tail };
        return 0;
    }
    return now_ns - note->since_ns >= age_ns ? left : 0;
}

uint32_t ring_count(struct ring *ring)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    /* [R2] seq_cst: a parking thread reads it. */
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_seq_cst);
    uint32_t count = tail - head;

    return count > ring->mask + 1 ? ring->mask + 1 : count;
}
