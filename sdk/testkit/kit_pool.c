#include "kit_pool.h"

#include <string.h>

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

    if (!pool)
        return WEIR_EUNKNOWN;
    if (size > sizeof *out)
        size = sizeof *out;
    memcpy(out, &kit_of(self)->stats, size);
    out->size = size;
    return 0;
}

/* The one worker under test is all that there is. */
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
    if (!pool)
        return WEIR_EUNKNOWN;
    return epoch > kit_of(self)->stats.epoch ? WEIR_EINVALID : 0;
}

uint32_t kit_pool_size(struct weir_self *self)
{
    return kit_of(self)->stats.target;
}
