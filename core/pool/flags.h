/* SPDX-License-Identifier: MIT */
/*
 * pool/flags.h - the flags of a pool that a sender checks before it routes a message: one word.
 *
 * It stands on the line of struct pool that senders read for each message, and is 0 for most pools:
 * open, round robin, of fixed size. So a sender checks all of it at once.
 *
 *          | set | word
 *   set    |  X  |  -      X = under the pool's lock, or before other threads have the pool;
 *   word   |  -  |  -      - = any threads at once
 */
#ifndef POOL_FLAGS_H
#define POOL_FLAGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/status.h>

#define FLAGS_CLOSING 1u
#define FLAGS_PAUSED 2u
/* `scale` is on: the first idle worker gets a message, so that the last are unused */
#define FLAGS_FIRST_IDLE 4u
#define FLAGS_SENSES 8u /* senders request looks of an elastic pool */
#define FLAGS_STUCK 16u /* workers fail to open: another pool of its lease group grows first */
#define FLAGS_ROUTE_SHIFT 8
#define FLAGS_ROUTE (0xffu << FLAGS_ROUTE_SHIFT) /* enum weir_route; round robin is 0 */

struct pool_flags {
    _Atomic uint32_t word;
};

/* Acquire pairs with the release in flags_set: a message that is sent after a pool was paused or
 * closed is refused. */
static inline uint32_t flags_word(const struct pool_flags *flags)
{
    return atomic_load_explicit(&flags->word, memory_order_acquire);
}

/* Why a pool with these flags takes no message; 0: it may take some. A pool that was paused before
 * it closed is closed. */
static inline int flags_refusal(uint32_t word)
{
    if (word & FLAGS_CLOSING)
        return WEIR_ECLOSED;
    return word & FLAGS_PAUSED ? WEIR_EFULL : 0;
}

static inline bool flags_is_closing(const struct pool_flags *flags)
{
    return flags_word(flags) & FLAGS_CLOSING;
}

static inline bool flags_is_paused(const struct pool_flags *flags)
{
    return flags_word(flags) & FLAGS_PAUSED;
}

static inline uint32_t flags_route(const struct pool_flags *flags)
{
    return (flags_word(flags) & FLAGS_ROUTE) >> FLAGS_ROUTE_SHIFT;
}

/* Replaces the bits of `mask` by those of `value`. */
static inline void flags_set(struct pool_flags *flags, uint32_t mask, uint32_t value)
{
    uint32_t rest = atomic_load_explicit(&flags->word, memory_order_relaxed) & ~mask;

    atomic_store_explicit(&flags->word, rest | value, memory_order_release);
}

#endif
