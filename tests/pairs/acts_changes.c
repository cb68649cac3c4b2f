/* SPDX-License-Identifier: MIT */
/* What threads outside change in pools: rows.h. */
#include <stdio.h>
#include <stdlib.h>

#include "embed/part.h"
#include "pairs/rows.h"
#include "pool/change.h"
#include "pool/pool.h"

#define LIMITS 5u

/* --- pauses ----------------------------------------------------------------------------------- */

/* From the return of a pause on the pool refuses every message. */
static void expect_refusal(struct agent *agent, weir_pid pool)
{
    struct world *world = agent->world;
    struct parcel parcel = { .ticket = ticket_new(world, NO_TICKET), .deed = PLAIN };
    struct weir_message *message;
    int status;

    if (parcel.ticket == NO_TICKET)
        return;
    message = parcel_outside(world, &parcel);
    status = weir_runtime_send(world->runtime, pool, WEIR_NORMAL, message);
    world_expect(world, status == WEIR_EFULL, "a paused pool takes a message", status);
    if (status != 0)
        weir_runtime_message_free(world->runtime, message);
}

void act_pause(struct agent *agent)
{
    struct world *world = agent->world;
    weir_pid pools[] = { world->main, world->sink, world->leaves[0],
                         world->leaves[world->leaf_count - 1] };
    weir_pid pool = pools[agent_draw(agent, 4)];

    pthread_mutex_lock(&world->pausing);
    if (weir_runtime_pause(world->runtime, pool) != 0)
        abort();
    for (uint32_t i = 0; i < world->leaf_count; i++)
        if (pool == world->leaves[i])
            atomic_fetch_add(&world->pauses[i], 1);
    expect_refusal(agent, pool);
    for (uint32_t i = agent_draw(agent, 8); i > 0; i--)
        world_yield();
    for (uint32_t i = 0; i < world->leaf_count; i++)
        if (pool == world->leaves[i])
            atomic_fetch_add(&world->pauses[i], 1);
    if (weir_runtime_resume(world->runtime, pool) != 0)
        abort();
    pthread_mutex_unlock(&world->pausing);
    world_count(world, agent->index);
}

void calm_pause(struct agent *agent)
{
    struct world *world = agent->world;

    pthread_mutex_lock(&world->pausing);
    (void)weir_runtime_resume(world->runtime, world->main);
    (void)weir_runtime_resume(world->runtime, world->sink);
    pthread_mutex_unlock(&world->pausing);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void resize(struct agent *agent, weir_pid pool, uint32_t workers)
{
    struct weir_resized resized = { 0 };
    int status = weir_runtime_resize(agent->world->runtime, pool, workers, &resized);

    world_expect(agent->world, status == 0 && resized.size == workers, "a resize fails", status);
}

void act_resize(struct agent *agent)
{
    struct world *world = agent->world;
    weir_pid leaf = world->leaves[agent_draw(agent, world->leaf_count)];
    uint32_t least = world->plan.leaf.workers_min;

    if (world->plan.is_elastic && agent_draw(agent, 3) == 0)
        world_expect(world, weir_runtime_scale_auto(world->runtime, leaf) == 0,
                     "a pool does not scale itself again", 0);
    else
        resize(agent, leaf, least + agent_draw(agent, SIZE_MAX_HERE + 1 - least));
    world_count(world, agent->index);
}

void calm_resize(struct agent *agent)
{
    struct world *world = agent->world;

    for (uint32_t i = 0; i < world->leaf_count; i++) {
        if (world->plan.is_elastic)
            (void)weir_runtime_scale_auto(world->runtime, world->leaves[i]);
        else
            resize(agent, world->leaves[i], 2);
    }
}

/* --- rates ------------------------------------------------------------------------------------ */

void act_rate(struct agent *agent)
{
    struct world *world = agent->world;
    struct weir_rate rate = { .messages = 1 + agent_draw(agent, 8),
                              .burst = 1 + agent_draw(agent, 4),
                              .per_ms = 1 };
    weir_pid leaf = world->leaves[agent_draw(agent, world->leaf_count)];

    world_expect(world, weir_runtime_set_rate(world->runtime, leaf, 0, &rate) == 0,
                 "a rate cannot be set", 0);
    world_count(world, agent->index);
}

void calm_rate(struct agent *agent)
{
    const struct weir_rate none = { .messages = 0 };
    struct world *world = agent->world;

    for (uint32_t i = 0; i < world->leaf_count; i++)
        (void)weir_runtime_set_rate(world->runtime, world->leaves[i], 0, &none);
}

/* --- workers that end ------------------------------------------------------------------------- */

/* A worker is killed as by a linked actor, by a task of another pool. */
static int kill_it(struct weir_task *task, void *argument)
{
    (void)weir_exit(task->self, (weir_pid)(uintptr_t)argument, WEIR_END_KILL);
    return 0;
}

void act_kill(struct agent *agent)
{
    struct world *world = agent->world;
    weir_pid member = agent_draw_member(agent);

    if (!member || agent_draw(agent, 4) > 0)
        return;
    atomic_fetch_add(&world->tasks_accepted, 1);
    if (weir_runtime_submit(world->runtime, world->sink, kill_it, (void *)(uintptr_t)member, 0) ==
        0)
        world_count(world, agent->index);
}

/* --- reloads ---------------------------------------------------------------------------------- */

static bool is_prepared(struct pool *pool, bool *out_failed)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(pool, &opening);
    *out_failed = opening.failed > 0;
    return opening.starting == 0;
}

/* One key differs. */
static void change_one_key(struct agent *agent, struct pool_change_options *options)
{
    static const uint32_t limits[LIMITS] = { 0, 1, 3, 16, WEIR_UNBUFFERED };
    struct world *world = agent->world;
    struct pool_settings *settings = &options->settings;

    switch (agent_draw(agent, 8)) {
    case 0:
        /* What gives leases has a queue. */
        settings->mailbox = limits[agent_draw(agent, LIMITS - (settings->lease.on ? 1 : 0))];
        return;
    case 1:
        settings->remove.mode = agent_draw(agent, 3);
        return;
    case 2:
        settings->remove.timeout_ms = agent_draw(agent, 3);
        return;
    case 3:
        if (!world->plan.is_elastic)
            options->size = 1 + agent_draw(agent, SIZE_MAX_HERE);
        return;
    case 4:
        if (settings->lease.on && !world->plan.leases_last)
            settings->lease.timeout_ms = 20 + agent_draw(agent, 30);
        return;
    case 5:
        if (settings->lease.on)
            settings->lease.queue = agent_draw(agent, 50);
        return;
    case 6:
        if (settings->route <= WEIR_ROUTE_RANDOM)
            settings->route = agent_draw(agent, 3);
        return;
    default:
        if (settings->scale.on)
            settings->scale.idle_ms = 1 + agent_draw(agent, 4);
        return;
    }
}

static void wait_until_stopped(struct pool *pool)
{
    while (!pool_change_has_stopped(pool))
        world_yield();
}

static void expect(struct agent *agent, int status, const char *what)
{
    world_expect(agent->world, status == 0, what, status);
}

static void reload_pool(struct agent *agent, struct runtime *runtime, struct pool *pool,
                        bool exclusive)
{
    struct pool_change_options options = { .size = pool_target(pool), .settings = pool->settings };
    bool replaces = exclusive || agent_draw(agent, 2), failed = false;
    struct executor *executor = runtime_enter(runtime);
    struct pool_change *change;
    int status = 0;

    change_one_key(agent, &options);
    options.spec = replaces ? pool->spec : NULL;
    if (exclusive) {
        status = pool_change_stop(pool, executor);
        runtime_leave(executor);
        expect(agent, status, "workers cannot be stopped");
        wait_until_stopped(pool);
        executor = runtime_enter(runtime);
    }
    status = pool_change_prepare(pool, executor, &options, &change);
    runtime_leave(executor);
    expect(agent, status, "a change cannot be prepared");
    if (status != 0)
        return;
    while (!is_prepared(pool, &failed))
        world_yield();
    executor = runtime_enter(runtime);
    if (failed || agent_draw(agent, 4) == 0) {
        pool_change_abort(change, executor);
        if (exclusive)
            expect(agent, pool_change_reopen(pool, executor), "workers cannot be opened again");
    } else {
        pool_change_commit(change, executor);
    }
    runtime_leave(executor);
    world_count(agent->world, agent->index);
}

static void reload(struct agent *agent, bool exclusive)
{
    struct world *world = agent->world;
    struct part *part = part_find_pool(world->runtime,
                                       world->leaves[agent_draw(agent, world->leaf_count)]);

    if (!part)
        abort();
    pthread_mutex_lock(&world->changing); /* a pool has one change at a time */
    reload_pool(agent, world->runtime->core, part->pool, exclusive);
    pthread_mutex_unlock(&world->changing);
    part_unref(part);
}

void act_reload(struct agent *agent)
{
    reload(agent, false);
}

void act_exclusive(struct agent *agent)
{
    reload(agent, true);
}
