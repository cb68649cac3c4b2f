/* SPDX-License-Identifier: MIT */
/*
 * actor/tokens.h - the token bucket of one output, which all workers that emit there share.
 *
 * Counted: the wirings that have it, and the places that wait for it. A reload keeps the object
 * when it publishes another wiring, so a reload adds no tokens, and workers with a former wiring
 * use the same bucket.
 *
 * A place that finds no token is in no wait queue. It gets the time at which a token is due to it,
 * behind the places that wait already: so each token wakes a place. The time is a hint. The place
 * tries again then; if another sender was faster, the place gets the time of the next token. The
 * time of a place that ends goes to no other one; so a place also tries earlier (actor/output.c).
 *
 * Any thread, any operation; the fields of a place are those of its owner.
 */
#ifndef ACTOR_TOKENS_H
#define ACTOR_TOKENS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/rate.h"

struct tokens;

/* Of a place. */
struct token_wait {
    struct tokens *tokens;     /* counted: an output has no token; NULL: none lacks one */
    uint64_t due_ns;           /* with `tokens`: when to try again */
    _Atomic uint32_t messages; /* read by all: messages that wait for a token; of a source: 1 */
};

/* One reference. NULL when memory is out. */
struct tokens *tokens_create(const struct rate *rate);
struct tokens *tokens_ref(struct tokens *tokens);
/* NULL is allowed. */
void tokens_unref(struct tokens *tokens);

void tokens_set_rate(struct tokens *tokens, uint64_t now_ns, const struct rate *rate);

/* As the functions of base/rate.h. */
uint32_t tokens_free(struct tokens *tokens, uint64_t now_ns);
uint32_t tokens_borrow(struct tokens *tokens, uint64_t now_ns, uint32_t wanted);
void tokens_return(struct tokens *tokens, uint64_t now_ns, uint32_t lent, uint32_t used);

/* The place has found no token for `messages` messages (of a source: 1). Returns when to try
 * again. */
uint64_t tokens_wait(struct tokens *tokens, uint64_t now_ns, struct token_wait *wait,
                     uint32_t messages);

/* The place waits for no token any more; it may have waited for none. */
void tokens_leave(struct token_wait *wait);

#endif
