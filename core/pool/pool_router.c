/* SPDX-License-Identifier: MIT */
#include "pool/pool_router.h"

#include "pool/broadcast.h"
#include "pool/elastic.h"
#include "pool/ending.h"
#include "pool/manager.h"
#include "pool/pool.h"
#include "pool/pool_items.h"
#include "pool/pulling.h"
#include "pool/route.h"
#include "pool/route_chain.h"
#include "pool/scaler.h"

static int route(struct router *router, struct executor *executor, struct message *message,
                 struct message_list *left)
{
    return route_leaving(pool_of_router(router), executor, message, left);
}

static void fan_out(struct router *router, struct fan_out *fan_out)
{
    broadcast_below(pool_of_router(router), fan_out);
}

static int worker_in(struct router *router, uint32_t seat, weir_pid *out_pid)
{
    return broadcast_worker_in(pool_of_router(router), seat, out_pid);
}

static int chain(struct router *router, struct executor *executor, struct message *const *messages,
                 uint32_t count)
{
    return route_chain(pool_of_router(router), executor, messages, count);
}

/* A sender that finds no room asks the pool for a check: the pool may grow by itself. */
static uint32_t room(struct router *router, struct executor *executor)
{
    struct pool *pool = pool_of_router(router);
    uint32_t room = route_room(pool);

    if (room == 0)
        elastic_starve(pool, executor);
    return room;
}

static uint32_t chain_room(struct router *router)
{
    return route_room_of_only_worker(pool_of_router(router));
}

static int take(struct router *router, struct executor *executor, struct message *message)
{
    return route_take(pool_of_router(router), executor, message);
}

static bool lend(struct router *router, struct executor *executor, struct weir_lease *out)
{
    return route_lend(pool_of_router(router), executor, out);
}

static bool is_closing(struct router *router)
{
    return flags_is_closing(&pool_of_router(router)->flags);
}

static void end(struct router *router, enum weir_end_reason reason, struct executor *executor)
{
    if (reason == WEIR_END_KILL)
        pool_kill(pool_of_router(router), executor);
    else
        pool_close(pool_of_router(router), executor);
}

static void on_time(struct router *router, struct executor *executor)
{
    scaler_check(pool_of_router(router), executor);
}

static int manage(struct router *router, struct message *message)
{
    return manager_handle(pool_of_router(router)->actor, message);
}

static void inspect(struct router *router, struct inspection *out)
{
    pool_items(out, pool_of_router(router));
}

const struct router_ops pool_router_ops = {
    .route = route,
    .fan_out = fan_out,
    .worker_in = worker_in,
    .route_chain = chain,
    .room = room,
    .chain_room = chain_room,
    .take = take,
    .lend = lend,
    .is_closing = is_closing,
    .close = end,
    .time = on_time,
    .manage = manage,
    .inspect = inspect,
};
