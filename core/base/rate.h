/* SPDX-License-Identifier: MIT */
/*
 * base/rate.h - a token bucket: how many messages may pass until now, and when the next one may.
 *
 * A bucket holds at most `burst` tokens, and gains `messages` tokens in each `per_ms`. A message
 * passes with one token. Within any period of length t at most burst + t * messages / per_ms
 * messages pass.
 *
 * All is computed with integers from two numbers: the tokens that were used since a start, and the
 * time since that start. So nothing is rounded twice, and nothing drifts. When the bucket is full,
 * the start moves to the present: tokens beyond `burst` are lost. Tokens are due at whole
 * microseconds after the start.
 *
 * A sender borrows tokens before it sends, and returns the tokens of messages that the target
 * refused. A borrowed token leaves the bucket when its message has been sent, not earlier. If it
 * left earlier, the bucket could fill up before the token comes back.
 *
 * Pure functions of the time that is passed in. Not synchronised.
 */
#ifndef BASE_RATE_H
#define BASE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* The product of both bounds, in microseconds, has room for three times itself in 64 bits. */
#define RATE_MESSAGES_MAX 1000000u
#define RATE_PER_MS_MAX 86400000u /* a day */
#define RATE_BURST_MAX RATE_MESSAGES_MAX

struct rate {
    uint32_t messages; /* 0 = no rate */
    uint32_t burst;    /* at least 1 */
    uint64_t per_ms;   /* at least 1 */
};

struct bucket {
    struct rate rate;
    uint64_t start_ns;
    uint64_t used; /* since the start */
    uint32_t lent;
};

/* The burst of a rate without one: the messages of a tenth of a second, at least one. */
uint32_t rate_usual_burst(uint32_t messages, uint64_t per_ms);

/* Within the bounds above. */
bool rate_is_valid(const struct rate *rate);

bool rate_is_same(const struct rate *rate, const struct rate *other);

/* A full bucket. */
void bucket_init(struct bucket *bucket, const struct rate *rate);

/* Tokens that may be borrowed now. */
uint32_t bucket_free(struct bucket *bucket, uint64_t now_ns);

/* Borrows up to `wanted` tokens; returns how many. */
uint32_t bucket_borrow(struct bucket *bucket, uint64_t now_ns, uint32_t wanted);

/* Ends a loan of `lent` tokens, of which messages have used `used`. */
void bucket_return(struct bucket *bucket, uint64_t now_ns, uint32_t lent, uint32_t used);

/* The time at which `count` tokens, at least 1, can be borrowed if there is no other borrower:
 * `now_ns` or later. */
uint64_t bucket_due_ns(struct bucket *bucket, uint64_t now_ns, uint32_t count);

/* Sets another rate. The bucket keeps its whole tokens, up to the new burst. */
void bucket_set_rate(struct bucket *bucket, uint64_t now_ns, const struct rate *rate);

#endif
