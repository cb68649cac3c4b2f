/* SPDX-License-Identifier: MIT */
#include "message/memory.h"

#include <stdlib.h>

static uint64_t batch_of(const struct memory *memory)
{
    /* Relaxed: the batch size only affects the cost. */
    return atomic_load_explicit(&memory->batch, memory_order_relaxed);
}

void memory_set_limit(struct memory *memory, uint64_t limit)
{
    uint64_t batch = limit / MEMORY_BATCHES;

    /* Relaxed: see memory_limit and batch_of. */
    atomic_store_explicit(&memory->limit, limit, memory_order_relaxed);
    atomic_store_explicit(&memory->batch, batch < MEMORY_BATCH_MAX ? batch : MEMORY_BATCH_MAX,
                          memory_order_relaxed);
}

void memory_init(struct memory *memory, uint64_t limit)
{
    memory_set_limit(memory, limit);
    atomic_init(&memory->taken, 0);
    atomic_init(&memory->refused, 0);
    atomic_init(&memory->references, 1);
}

struct memory *memory_create(uint64_t limit)
{
    struct memory *memory = aligned_alloc(alignof(struct memory), sizeof *memory);

    if (memory)
        memory_init(memory, limit);
    return memory;
}

struct memory *memory_ref(struct memory *memory)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
    return memory;
}

void memory_unref(struct memory *memory)
{
    /* Each release pairs with the acquire of the last one: all counting comes before. */
    if (memory && atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) == 1)
        free(memory);
}

bool memory_is_scarce(struct memory *memory)
{
    uint64_t limit = memory_limit(memory);

    return limit && atomic_load_explicit(&memory->taken, memory_order_relaxed) > limit - limit / 4;
}

/* Relaxed throughout: the count publishes nothing. Counts also when the limit was removed while the
 * message was being made. */
static bool take_common(struct memory *memory, uint64_t bytes)
{
    uint64_t limit = memory_limit(memory);
    uint64_t taken = atomic_load_explicit(&memory->taken, memory_order_relaxed);

    do
        if (limit && (taken > limit || bytes > limit - taken))
            return false;
    while (!atomic_compare_exchange_weak_explicit(&memory->taken, &taken, taken + bytes,
                                                  memory_order_relaxed, memory_order_relaxed));
    return true;
}

bool memory_take(struct memory_share *share, uint64_t bytes)
{
    struct memory *memory = share->memory;
    uint64_t batch = batch_of(memory);
    uint64_t missing;

    if (bytes <= share->at_hand) {
        share->at_hand -= bytes;
        return true;
    }
    missing = bytes - share->at_hand;
    if (take_common(memory, missing + batch)) {
        share->at_hand = batch;
        return true;
    }
    if (take_common(memory, missing)) {
        share->at_hand = 0;
        return true;
    }
    atomic_fetch_add_explicit(&memory->refused, 1, memory_order_relaxed);
    return false;
}

void memory_take_anyway(struct memory_share *share, uint64_t bytes)
{
    uint64_t missing = bytes > share->at_hand ? bytes - share->at_hand : 0;

    share->at_hand -= bytes - missing;
    if (missing)
        atomic_fetch_add_explicit(&share->memory->taken, missing, memory_order_relaxed);
}

void memory_return(struct memory *memory, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&memory->taken, bytes, memory_order_relaxed);
}

static void give_common(struct memory_share *share, uint64_t bytes)
{
    share->at_hand -= bytes;
    memory_return(share->memory, bytes);
}

void memory_give(struct memory_share *share, uint64_t bytes)
{
    uint64_t batch = batch_of(share->memory);

    share->at_hand += bytes;
    if (share->at_hand > 2 * batch)
        give_common(share, share->at_hand - batch);
}

void memory_flush(struct memory_share *share)
{
    if (share->at_hand)
        give_common(share, share->at_hand);
}
