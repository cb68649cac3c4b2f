/* SPDX-License-Identifier: MIT */
#include "kit_pool.h"

#include <stdlib.h>
#include <string.h>

/* The size of struct weir_pool_stats in version 1.0: up to and including `restarts`. */
#define STATS_SIZE_MIN (offsetof(struct weir_pool_stats, restarts) + sizeof(uint64_t))

/* A request of the worker for the result of a resize. */
struct kit_outcome {
    struct kit_outcome *next;
    weir_pid pool;
    uint64_t epoch;
};

int kit_pool_resize(struct weir_self *self, weir_pid pool, uint32_t target,
                    struct weir_resized *out)
{
    struct weir_pool_stats *stats = &kit_of(self)->stats;
    uint32_t before = stats->target;

    if (!pool)
        return WEIR_EUNKNOWN;
    stats->target = target;
    stats->epoch += before != target;
    if (out)
        *out = (struct weir_resized){
            .changed = before < target ? target - before : before - target,
            .size = target,
            .epoch = stats->epoch,
        };
    return 0;
}

int kit_pool_add(struct weir_self *self, weir_pid pool, int32_t count, struct weir_resized *out)
{
    int64_t target = (int64_t)kit_of(self)->stats.target + count;

    if (target < 0 || target > UINT32_MAX)
        return WEIR_EINVALID;
    return kit_pool_resize(self, pool, (uint32_t)target, out);
}

int kit_pool_stats(struct weir_self *self, weir_pid pool, struct weir_pool_stats *out)
{
    uint32_t size = out->size;

    if (size < STATS_SIZE_MIN)
        return WEIR_EINVALID;
    if (!pool)
        return WEIR_EUNKNOWN;
    if (size > sizeof *out)
        size = sizeof *out;
    memcpy(out, &kit_of(self)->stats, size);
    out->size = size;
    return 0;
}

/* The pool has one member, the worker under test. */
int kit_pool_members(struct weir_self *self, weir_pid pool, struct weir_member *out,
                     uint32_t member_size, uint32_t max, uint32_t *out_count)
{
    struct weir_member member = { .size = member_size < sizeof member ? member_size
                                                                      : (uint32_t)sizeof member,
                                  .index = kit_of(self)->index,
                                  .pid = kit_pid(kit_of(self)),
                                  .state = WEIR_MEMBER_OPEN };

    if (!pool)
        return WEIR_EUNKNOWN;
    if (max > 0)
        memcpy(out, &member, member.size);
    *out_count = 1;
    return 0;
}

int kit_pool_pause(struct weir_self *self, weir_pid pool, bool paused)
{
    if (!pool)
        return WEIR_EUNKNOWN;
    kit_of(self)->stats.paused = paused;
    return 0;
}

int kit_pool_tell(struct weir_self *self, weir_pid pool, uint64_t epoch)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_outcome **end = &kit->outcomes;

    if (!pool)
        return WEIR_EUNKNOWN;
    if (epoch > kit->stats.epoch)
        return WEIR_EINVALID;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    while (*end)
        end = &(*end)->next;
    *end = kit_take(sizeof **end);
    (*end)->pool = pool;
    (*end)->epoch = epoch;
    return 0;
}

int weir_kit_resized(struct weir_kit *kit, uint32_t live, int error)
{
    struct kit_outcome *outcome = kit->outcomes;
    struct weir_pool_resized resized = { .live = live, .error = error };
    const struct weir_message like = {
        .data = &resized,
        .size = sizeof resized,
        .tag = weir_kit_tag(kit, WEIR_POOL_RESIZED),
        .from = outcome ? outcome->pool : 0,
        .kind = WEIR_MESSAGE,
        .lane = WEIR_HIGH,
    };

    if (!outcome)
        return WEIR_EUNKNOWN;
    kit->outcomes = outcome->next;
    resized.epoch = outcome->epoch;
    kit->stats.live = live;
    free(outcome);
    return weir_kit_deliver(kit, &like);
}

void kit_pool_finish(struct weir_kit *kit)
{
    while (kit->outcomes) {
        struct kit_outcome *next = kit->outcomes->next;

        free(kit->outcomes);
        kit->outcomes = next;
    }
}

uint32_t kit_pool_size(struct weir_self *self)
{
    return kit_of(self)->stats.target;
}
