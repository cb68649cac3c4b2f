#include "pool/fan_out.h"

#include "actor/send.h"
#include "pool/pool.h"

static void give(const struct member *member, struct executor *executor,
                 const struct message *message, struct fan_out *result)
{
    struct message *copy = message_copy(&executor->cache, message);

    if (copy && send_deliver(member->actor, member->serial, executor, copy) == 0) {
        result->taken++;
        return;
    }
    result->refused++;
    message_destroy(&executor->cache, copy);
}

void fan_out_below(struct pool *pool, struct executor *executor, const struct message *message,
                   struct fan_out *result)
{
    const struct members *members;

    if (atomic_load_explicit(&pool->closing, memory_order_acquire) ||
        atomic_load_explicit(&pool->paused, memory_order_acquire)) {
        result->refused++;
        return;
    }
    /* [P1] pairs with members_publish. */
    members = atomic_load_explicit(&pool->members, memory_order_acquire);
    for (uint32_t i = 0; i < members->count; i++) {
        if (members->members[i].pool)
            fan_out_below(members->members[i].pool, executor, message, result);
        else
            give(&members->members[i], executor, message, result);
    }
}
