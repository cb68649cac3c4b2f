/* SPDX-License-Identifier: MIT */
#include "pool/host_table_pool.h"

#include "actor/callback.h"
#include "actor/find.h"
#include "pool/figures.h"
#include "pool/outcome.h"
#include "pool/resize.h"

int host_table_find_pool(struct actor *actor, weir_pid pid, struct pool **out)
{
    struct actor *found;
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : actor_find_alive(actor->runtime, pid, &found);

    if (status != 0)
        return status;
    if (!found->router)
        return WEIR_EINVALID;
    *out = pool_of_router(found->router);
    return 0;
}

/* The pool that the actor belongs to or manages; NULL: none. */
static struct pool *own_pool(const struct actor *actor)
{
    if (actor->kind == ACTOR_POOL)
        return pool_of_router(actor->router);
    return pool_of_worker(actor);
}

weir_pid host_table_pool(struct weir_self *self)
{
    struct pool *pool = own_pool(actor_of_self(self));

    return pool ? pool->pid : 0;
}

uint32_t host_table_pool_size(struct weir_self *self)
{
    struct actor *actor = callback_enter_host(self);
    struct pool *pool = own_pool(actor);
    uint32_t size = pool ? pool_target(pool) : 0;

    callback_leave_host(actor);
    return size;
}

/* Logs the resize, and fills in the plugin's `out` if it is not NULL. */
static void report_resized(const struct actor *actor, struct pool *pool,
                           const struct weir_resized *resized, struct weir_resized *out)
{
    resize_report(pool, RESIZE_BY_PLUGIN, place_path(actor), resized);
    if (out)
        *out = *resized;
}

int host_table_pool_resize(struct weir_self *self, weir_pid pid, uint32_t target,
                           struct weir_resized *out)
{
    struct actor *actor = callback_enter_host(self);
    struct weir_resized resized;
    struct pool *pool;
    int status = host_table_find_pool(actor, pid, &pool);

    if (status == 0)
        status = pool_resize(pool, actor->executor, target, &resized);
    if (status == 0)
        report_resized(actor, pool, &resized, out);
    callback_leave_host(actor);
    return status;
}

int host_table_pool_add(struct weir_self *self, weir_pid pid, int32_t count,
                        struct weir_resized *out)
{
    struct actor *actor = callback_enter_host(self);
    struct weir_resized resized;
    struct pool *pool;
    int status = host_table_find_pool(actor, pid, &pool);

    if (status == 0)
        status = pool_add(pool, actor->executor, count, &resized);
    if (status == 0)
        report_resized(actor, pool, &resized, out);
    callback_leave_host(actor);
    return status;
}

int host_table_pool_stats(struct weir_self *self, weir_pid pid, struct weir_pool_stats *out)
{
    struct actor *actor = callback_enter_host(self);
    struct pool *pool;
    int status = pool_can_show(out) ? host_table_find_pool(actor, pid, &pool) : WEIR_EINVALID;

    if (status == 0)
        pool_stats(pool, out);
    callback_leave_host(actor);
    return status;
}

int host_table_pool_members(struct weir_self *self, weir_pid pid, struct weir_member *out,
                            uint32_t member_size, uint32_t max, uint32_t *out_count)
{
    struct actor *actor = callback_enter_host(self);
    struct pool *pool;
    int status = host_table_find_pool(actor, pid, &pool);

    if (status == 0)
        *out_count = pool_members(pool, out, member_size, max);
    callback_leave_host(actor);
    return status;
}

int host_table_pool_pause(struct weir_self *self, weir_pid pid, bool paused)
{
    struct actor *actor = callback_enter_host(self);
    struct pool *pool;
    int status = host_table_find_pool(actor, pid, &pool);

    if (status == 0)
        pool_pause(pool, paused, actor->executor);
    callback_leave_host(actor);
    return status;
}

int host_table_pool_tell(struct weir_self *self, weir_pid pid, uint64_t epoch)
{
    struct actor *actor = callback_enter_host(self);
    struct pool *pool;
    int status = host_table_find_pool(actor, pid, &pool);

    if (status == 0)
        status = outcome_ask(pool, actor->executor, actor_pid(actor), epoch);
    callback_leave_host(actor);
    return status;
}
