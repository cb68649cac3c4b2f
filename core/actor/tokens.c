/* SPDX-License-Identifier: MIT */
#include "actor/tokens.h"

#include <stdlib.h>

#include "base/lock.h"

struct tokens {
    _Atomic uint32_t references;
    struct lock lock;
    struct bucket bucket; /* lock */
    uint32_t waiting;     /* lock: places */
};

struct tokens *tokens_create(const struct rate *rate)
{
    struct tokens *tokens = calloc(1, sizeof *tokens);

    if (!tokens)
        return NULL;
    atomic_init(&tokens->references, 1);
    lock_init(&tokens->lock, LOCK_TOKENS);
    bucket_init(&tokens->bucket, rate);
    return tokens;
}

struct tokens *tokens_ref(struct tokens *tokens)
{
    /* Relaxed: the caller has a reference, or a wiring that has one. */
    atomic_fetch_add_explicit(&tokens->references, 1, memory_order_relaxed);
    return tokens;
}

void tokens_unref(struct tokens *tokens)
{
    /* Each release pairs with the acquire of the last one: all uses come before. */
    if (!tokens || atomic_fetch_sub_explicit(&tokens->references, 1, memory_order_acq_rel) != 1)
        return;
    lock_finish(&tokens->lock);
    free(tokens);
}

void tokens_set_rate(struct tokens *tokens, uint64_t now_ns, const struct rate *rate)
{
    lock_acquire(&tokens->lock);
    /* The same rate keeps the part of a token that has been gained, too. */
    if (!rate_is_same(&tokens->bucket.rate, rate))
        bucket_set_rate(&tokens->bucket, now_ns, rate);
    lock_release(&tokens->lock);
}

uint32_t tokens_free(struct tokens *tokens, uint64_t now_ns)
{
    uint32_t free;

    lock_acquire(&tokens->lock);
    free = bucket_free(&tokens->bucket, now_ns);
    lock_release(&tokens->lock);
    return free;
}

uint32_t tokens_borrow(struct tokens *tokens, uint64_t now_ns, uint32_t wanted)
{
    uint32_t lent;

    lock_acquire(&tokens->lock);
    lent = bucket_borrow(&tokens->bucket, now_ns, wanted);
    lock_release(&tokens->lock);
    return lent;
}

void tokens_return(struct tokens *tokens, uint64_t now_ns, uint32_t lent, uint32_t used)
{
    lock_acquire(&tokens->lock);
    bucket_return(&tokens->bucket, now_ns, lent, used);
    lock_release(&tokens->lock);
}

static void join(struct tokens *tokens, struct token_wait *wait)
{
    tokens_leave(wait);
    wait->tokens = tokens_ref(tokens);
    wait->due_ns = 0;
    lock_acquire(&tokens->lock);
    tokens->waiting++;
    lock_release(&tokens->lock);
}

uint64_t tokens_wait(struct tokens *tokens, uint64_t now_ns, struct token_wait *wait,
                     uint32_t messages)
{
    bool had_its_turn = wait->tokens == tokens && wait->due_ns <= now_ns;
    uint64_t due_ns;

    if (wait->tokens != tokens)
        join(tokens, wait);
    /* Relaxed: a figure. */
    atomic_store_explicit(&wait->messages, messages, memory_order_relaxed);
    lock_acquire(&tokens->lock);
    /* Another sender took the token of the place that had its turn. */
    due_ns = bucket_due_ns(&tokens->bucket, now_ns, had_its_turn ? 1 : tokens->waiting);
    lock_release(&tokens->lock);
    /* A place that tries before its time keeps its turn. */
    if (wait->due_ns <= now_ns || due_ns < wait->due_ns)
        wait->due_ns = due_ns;
    return wait->due_ns;
}

void tokens_leave(struct token_wait *wait)
{
    struct tokens *tokens = wait->tokens;

    if (!tokens)
        return;
    wait->tokens = NULL;
    atomic_store_explicit(&wait->messages, 0, memory_order_relaxed);
    lock_acquire(&tokens->lock);
    tokens->waiting--;
    lock_release(&tokens->lock);
    tokens_unref(tokens);
}
