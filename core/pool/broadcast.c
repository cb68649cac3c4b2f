/* SPDX-License-Identifier: MIT */
#include "pool/broadcast.h"

#include "actor/actor.h"
#include "actor/fan_out.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "pool/pool.h"

bool broadcast_passes_over(const struct member *member)
{
    return member->pool && flags_is_closing(&member->pool->flags);
}

static const struct members *members_of(struct pool *pool)
{
    /* [P1] pairs with members_publish. */
    return atomic_load_explicit(&pool->members, memory_order_acquire);
}

/* A nested pool routes its copy. */
static void give_to_pool(struct fan_out *fan_out, struct pool *pool, broadcast_route *route)
{
    struct message *copy = fan_out_copy(fan_out);

    if (copy)
        fan_out_given(fan_out, (struct fan_out_receiver){ pool->pid, FAN_OUT_NO_SEAT }, copy,
                      route(pool, fan_out->executor, copy, fan_out->left));
}

static void give_to_worker(struct fan_out *fan_out, const struct pool *pool,
                           const struct member *member)
{
    fan_out_to_worker(fan_out, (struct fan_out_receiver){ pool->pid, member->seat }, member->actor,
                      member->serial);
}

static void give_to_all(struct fan_out *fan_out, struct pool *pool, broadcast_route *route)
{
    const struct members *members = members_of(pool);

    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];

        if (member->pool)
            give_to_pool(fan_out, member->pool, route);
        else
            give_to_worker(fan_out, pool, member);
    }
    fan_out_finish(fan_out);
}

/* No member has taken a copy: refuses the whole message. */
static int refuse(struct fan_out *fan_out, struct message_list *left)
{
    bool is_for_now = fan_out->full || fan_out->refused == 0 || left->count > 0;
    struct message *copy;

    while ((copy = message_list_take(left)))
        message_destroy(&fan_out->executor->cache, copy);
    return is_for_now ? WEIR_EFULL : WEIR_EINVALID;
}

/* True for a message that one worker alone may handle: one with one answer, and a task, whose
 * argument the copies would share. */
static bool is_for_one(const struct pool *pool, const struct message *message)
{
    return message->public.kind == WEIR_REQUEST || (message->public.reserved & MESSAGE_ORIGIN) ||
           message->public.tag == pool->runtime->task_tag;
}

int broadcast(struct pool *pool, struct executor *executor, struct message *message,
              struct message_list *left, broadcast_route *route)
{
    struct message_list own = { 0 };
    struct fan_out fan_out = { .executor = executor,
                               .message = message,
                               .left = left ? &own : NULL };
    struct message *copy;

    if (is_for_one(pool, message))
        return WEIR_EINVALID;
    give_to_all(&fan_out, pool, route);
    if (fan_out.taken == 0)
        return refuse(&fan_out, &own);
    while ((copy = message_list_take(&own)))
        message_list_append(left, copy);
    if (fan_out.refused > 0)
        counter_add(&pool->refused, executor->reader.index, fan_out.refused);
    settle_copied(pool->runtime, executor, message);
    return 0;
}

/* Depth is bounded by the configuration. */
void broadcast_below(struct pool *pool, struct fan_out *fan_out)
{
    const struct members *members;

    if (flags_is_closing(&pool->flags) || flags_is_paused(&pool->flags)) {
        fan_out->refused++;
        return;
    }
    members = members_of(pool);
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];

        if (member->pool)
            broadcast_below(member->pool, fan_out);
        else
            give_to_worker(fan_out, pool, member);
    }
}

int broadcast_worker_in(struct pool *pool, uint32_t seat, weir_pid *out_pid)
{
    const struct members *members = members_of(pool);

    if (flags_is_closing(&pool->flags))
        return WEIR_ECLOSED;
    if (members->count == 0)
        return WEIR_EFULL;
    /* A member's index nearly always equals its seat, so that index is checked first. */
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[(seat + i) % members->count];

        if (member->actor && member->seat == seat) {
            *out_pid = (weir_pid)member->serial << 32 | (uint32_t)actor_pid(member->actor);
            return 0;
        }
    }
    return WEIR_ETERMINATED;
}
