/* SPDX-License-Identifier: MIT */
#include "base/rate.h"

#define NS_PER_MS 1000000u
#define NS_PER_US 1000u
#define US_PER_MS 1000u
#define USUAL_BURST_MS 100u

uint32_t rate_usual_burst(uint32_t messages, uint64_t per_ms)
{
    uint64_t burst = (uint64_t)messages * USUAL_BURST_MS / per_ms;

    if (burst > RATE_BURST_MAX)
        return RATE_BURST_MAX;
    return burst ? (uint32_t)burst : 1;
}

bool rate_is_valid(const struct rate *rate)
{
    return rate->messages >= 1 && rate->messages <= RATE_MESSAGES_MAX && rate->per_ms >= 1 &&
           rate->per_ms <= RATE_PER_MS_MAX && rate->burst >= 1 && rate->burst <= RATE_BURST_MAX;
}

bool rate_is_same(const struct rate *rate, const struct rate *other)
{
    return rate->messages == other->messages && rate->burst == other->burst &&
           rate->per_ms == other->per_ms;
}

static uint64_t per_ns(const struct bucket *bucket)
{
    return bucket->rate.per_ms * NS_PER_MS;
}

/* Another thread may have passed a later time before. */
static uint64_t elapsed_ns(const struct bucket *bucket, uint64_t now_ns)
{
    return now_ns > bucket->start_ns ? now_ns - bucket->start_ns : 0;
}

/* Whole tokens gained since the start; after move_start, so that the product has room. */
static uint64_t gained(const struct bucket *bucket, uint64_t now_ns)
{
    uint64_t elapsed_us = elapsed_ns(bucket, now_ns) / NS_PER_US;

    return elapsed_us * bucket->rate.messages / (bucket->rate.per_ms * US_PER_MS);
}

static void start_full(struct bucket *bucket, uint64_t now_ns)
{
    bucket->used = 0;
    if (now_ns > bucket->start_ns)
        bucket->start_ns = now_ns;
}

/* Moves the start on by whole periods; to the present if the bucket is full. */
static void move_start(struct bucket *bucket, uint64_t now_ns)
{
    uint64_t periods = elapsed_ns(bucket, now_ns) / per_ns(bucket);

    if (periods > bucket->used / bucket->rate.messages) {
        start_full(bucket, now_ns);
        return;
    }
    bucket->start_ns += periods * per_ns(bucket);
    bucket->used -= periods * bucket->rate.messages;
    if (bucket->used <= gained(bucket, now_ns))
        start_full(bucket, now_ns);
}

void bucket_init(struct bucket *bucket, const struct rate *rate)
{
    *bucket = (struct bucket){ .rate = *rate };
}

/* Tokens in the bucket, including lent ones; 0 also after a smaller burst was set. */
static uint64_t level(struct bucket *bucket, uint64_t now_ns)
{
    uint64_t all;

    move_start(bucket, now_ns);
    all = bucket->rate.burst + gained(bucket, now_ns);
    return all > bucket->used ? all - bucket->used : 0;
}

uint32_t bucket_free(struct bucket *bucket, uint64_t now_ns)
{
    uint64_t all = level(bucket, now_ns);

    return all > bucket->lent ? (uint32_t)(all - bucket->lent) : 0;
}

uint32_t bucket_borrow(struct bucket *bucket, uint64_t now_ns, uint32_t wanted)
{
    uint32_t free = bucket_free(bucket, now_ns);
    uint32_t lent = free < wanted ? free : wanted;

    bucket->lent += lent;
    return lent;
}

void bucket_return(struct bucket *bucket, uint64_t now_ns, uint32_t lent, uint32_t used)
{
    move_start(bucket, now_ns);
    bucket->lent -= lent;
    bucket->used += used;
}

uint64_t bucket_due_ns(struct bucket *bucket, uint64_t now_ns, uint32_t count)
{
    uint64_t wanted;
    uint64_t due_us;
    uint64_t due_ns;

    move_start(bucket, now_ns);
    wanted = bucket->used + bucket->lent + count;
    if (wanted <= bucket->rate.burst)
        return now_ns;
    wanted -= bucket->rate.burst;
    due_us = (wanted * bucket->rate.per_ms * US_PER_MS + bucket->rate.messages - 1) /
             bucket->rate.messages;
    due_ns = bucket->start_ns + due_us * NS_PER_US;
    return due_ns > now_ns ? due_ns : now_ns;
}

void bucket_set_rate(struct bucket *bucket, uint64_t now_ns, const struct rate *rate)
{
    uint64_t kept = level(bucket, now_ns);

    bucket->rate = *rate;
    bucket->start_ns = now_ns > bucket->start_ns ? now_ns : bucket->start_ns;
    bucket->used = kept < rate->burst ? rate->burst - kept : 0;
}
