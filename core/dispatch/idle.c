/* SPDX-License-Identifier: MIT */
#include "dispatch/idle.h"

#define SEARCHING_ONE 1ull
#define PARKED_ONE (1ull << 32)

static uint32_t searching_of(uint64_t counts)
{
    return (uint32_t)counts;
}

static uint32_t parked_of(uint64_t counts)
{
    return (uint32_t)(counts >> 32);
}

void idle_init(struct idle *idle, uint32_t searchers_max)
{
    atomic_init(&idle->searchers_max, searchers_max);
    atomic_init(&idle->counts, 0);
    for (uint32_t i = 0; i < IDLE_THREADS_MAX / 64; i++)
        atomic_init(&idle->parked[i], 0);
}

void idle_set_searchers_max(struct idle *idle, uint32_t searchers_max)
{
    /* Relaxed: the number of searchers only affects the cost. */
    atomic_store_explicit(&idle->searchers_max, searchers_max, memory_order_relaxed);
}

bool idle_try_search(struct idle *idle)
{
    uint32_t max = atomic_load_explicit(&idle->searchers_max, memory_order_relaxed);
    uint64_t counts = atomic_load_explicit(&idle->counts, memory_order_relaxed);

    do
        if (searching_of(counts) >= max)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&idle->counts, &counts, counts + SEARCHING_ONE,
                                                  memory_order_seq_cst, memory_order_relaxed));
    return true;
}

bool idle_found(struct idle *idle)
{
    uint64_t before = atomic_fetch_sub_explicit(&idle->counts, SEARCHING_ONE, memory_order_seq_cst);

    return searching_of(before) == 1;
}

static _Atomic uint64_t *word_of(struct idle *idle, uint32_t index)
{
    return &idle->parked[index / 64];
}

static uint64_t bit_of(uint32_t index)
{
    return 1ull << (index % 64);
}

void idle_park(struct idle *idle, uint32_t index, bool was_searching)
{
    atomic_fetch_or_explicit(word_of(idle, index), bit_of(index), memory_order_seq_cst);
    atomic_fetch_add_explicit(&idle->counts, PARKED_ONE - (was_searching ? SEARCHING_ONE : 0),
                              memory_order_seq_cst);
}

/* True for the thread that clears the bit. */
static bool claim(struct idle *idle, uint32_t index)
{
    uint64_t before = atomic_fetch_and_explicit(word_of(idle, index), ~bit_of(index),
                                                memory_order_seq_cst);

    return before & bit_of(index);
}

bool idle_unpark_self(struct idle *idle, uint32_t index)
{
    if (!claim(idle, index))
        return false;
    atomic_fetch_add_explicit(&idle->counts, SEARCHING_ONE - PARKED_ONE, memory_order_seq_cst);
    return true;
}

static uint32_t claim_any(struct idle *idle)
{
    for (uint32_t i = 0; i < IDLE_THREADS_MAX / 64; i++) {
        uint64_t word = atomic_load_explicit(&idle->parked[i], memory_order_seq_cst);

        while (word) {
            uint32_t index = i * 64 + (uint32_t)__builtin_ctzll(word);

            if (claim(idle, index))
                return index;
            word &= word - 1;
        }
    }
    return IDLE_NOBODY;
}

uint32_t idle_pick(struct idle *idle)
{
    uint64_t counts = atomic_load_explicit(&idle->counts, memory_order_seq_cst);
    uint32_t picked;

    if (searching_of(counts) > 0 || parked_of(counts) == 0)
        return IDLE_NOBODY;
    picked = claim_any(idle);
    if (picked != IDLE_NOBODY)
        atomic_fetch_add_explicit(&idle->counts, SEARCHING_ONE - PARKED_ONE, memory_order_seq_cst);
    return picked;
}

bool idle_is_parked(struct idle *idle, uint32_t index)
{
    /* seq_cst: a thread that hands over the keeping clears the keeper before it looks here; a
     * parking thread must show here before it finds that there is a keeper. */
    return atomic_load_explicit(word_of(idle, index), memory_order_seq_cst) & bit_of(index);
}

uint32_t idle_parked_count(struct idle *idle)
{
    return parked_of(atomic_load_explicit(&idle->counts, memory_order_seq_cst));
}

uint32_t idle_searching_count(struct idle *idle)
{
    return searching_of(atomic_load_explicit(&idle->counts, memory_order_seq_cst));
}
