/* SPDX-License-Identifier: MIT */
/* The figures of leases: face/lease_figures.h. */
#include "face/lease_figures.h"

#include "actor/lease.h"
#include "actor/runtime.h"
#include "pool/pool.h"
#include "stats/histogram.h"

#define NS_PER_MS 1000000u

const char *pool_lease_end_name(enum lease_end end)
{
    static const char *const names[LEASE_ENDS] = {
        [LEASE_DONE] = "returned",
        [LEASE_FAILED] = "returned_failed",
        [LEASE_EXPIRED] = "expired",
        [LEASE_HOLDER_ENDED] = "holder_ended",
        [LEASE_HOLDER_FAILED] = "holder_failed",
        [LEASE_MEMBER_FAILED] = "worker_failed",
        [LEASE_REMOVED] = "worker_removed",
    };

    return names[end];
}

const char *pool_take_end_name(enum take_end end)
{
    static const char *const names[TAKE_ENDS] = {
        [TAKE_FULL] = "full",
        [TAKE_EXPIRED] = "expired",
        [TAKE_CANCELLED] = "cancelled",
        [TAKE_REFUSED] = "refused",
    };

    return names[end];
}

/* The messages of the queue that are takers: all of them, or the first `max` into `out`. */
static uint64_t takers_locked(const struct pull_queue *pull, weir_pid *out, uint64_t max)
{
    const struct message *last = pull->messages.queue.last;
    const struct message *message = last;
    uint64_t count = 0;

    for (uint32_t i = 0; last && i < pull->messages.count && count < max; i++) {
        message = message->next; /* after the last comes the first */
        if (!(message->public.reserved & MESSAGE_TAKE))
            continue;
        if (out)
            out[count] = lease_holder_of(message);
        count++;
    }
    return count;
}

static uint64_t takers(struct pool *pool, weir_pid *out, uint64_t max)
{
    uint64_t count;

    lock_acquire(&pool->pull.lock);
    count = takers_locked(&pool->pull, out, max);
    lock_release(&pool->pull.lock);
    return count;
}

uint32_t pool_list_takers(struct pool *pool, weir_pid *out, uint32_t max)
{
    return (uint32_t)takers(pool, out, max);
}

static bool is_open(const struct lease *lease)
{
    return lease && lease->open;
}

static void add_leases(struct pool *pool, struct pool_leases *sum)
{
    struct leases *leases = &pool->leases;

    lock_acquire(&leases->lock);
    sum->begun += leases->granted;
    for (int end = 0; end < LEASE_ENDS; end++)
        sum->ended[end] += leases->ended[end];
    for (int end = 0; end < TAKE_ENDS; end++)
        sum->unserved[end] += leases->unserved[end];
    sum->failed_free += leases->failed_free;
    sum->failed_leased += leases->failed_leased;
    histogram_absorb(&sum->waited, &leases->waited);
    histogram_absorb(&sum->lasted, &leases->lasted);
    for (uint32_t i = 0; i < leases->count; i++)
        sum->leased += is_open(leases->entries[i]);
    lock_release(&leases->lock);
    sum->waiting += takers(pool, NULL, UINT64_MAX);
}

void pool_look_at_leases(struct pool *pool, struct pool_leases *out)
{
    *out = (struct pool_leases){ .on = leases_are_given(&pool->leases) };
    add_leases(pool, out);
    if (!out->on)
        return;
    lock_acquire(&pool->lock);
    for (uint32_t i = 0; i < pool->child_count; i++) /* of a group */
        add_leases(pool->children[i], out);
    lock_release(&pool->lock);
}

uint32_t pool_list_leases(struct pool *pool, struct pool_lease *out, uint32_t max)
{
    uint64_t now_ns = clock_now_ns(&pool->runtime->options.clock);
    struct leases *leases = &pool->leases;
    uint32_t count = 0;

    lock_acquire(&leases->lock);
    for (uint32_t i = 0; i < leases->count && count < max; i++) {
        const struct lease *lease = leases->entries[i];

        if (is_open(lease))
            out[count++] = (struct pool_lease){
                .member = actor_pid(lease->actor),
                .holder = lease->holder,
                .age_ms = now_ns > lease->begun_ns ? (now_ns - lease->begun_ns) / NS_PER_MS : 0,
            };
    }
    lock_release(&leases->lock);
    return count;
}
