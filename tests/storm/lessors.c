/* SPDX-License-Identifier: MIT */
/* A group of two pools that give leases and scale themselves; its takers; an agent that changes
 * these pools; and a reader of all figures. */
#include <stdlib.h>
#include <string.h>

#include "actor/external_await.h"
#include "face/lease_figures.h"
#include "face/leases.h"
#include "pool/change.h"
#include "pool/creation.h"
#include "pool/elastic.h"
#include "storm/world.h"

#define LONG_MS UINT64_MAX /* the simulation's clock would reach any time-out first */
#define MEMBERS_SHOWN 8u

static uint32_t draw(struct agent *agent, uint32_t bound)
{
    agent->random = agent->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(agent->random >> 33) % bound;
}

static struct executor *enter(struct world *world)
{
    struct executor *executor = runtime_enter(world->runtime);

    if (!executor)
        abort();
    return executor;
}

/* --- the pools ------------------------------------------------------------------------------- */

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour lessor = { .name = "lessor", .handle = handle };

static struct pool *build(struct world *world, struct executor *executor,
                          const struct pool_options *options)
{
    struct pool *pool;

    if (pool_create(world->runtime, executor, options, &pool) != 0)
        abort();
    return pool;
}

static struct pool_settings settings_of(uint32_t size_max)
{
    return (struct pool_settings){ .route = WEIR_ROUTE_PULL,
                                   .mailbox = 4,
                                   .size_max = size_max,
                                   .lease = { true, 0, WORLD_TAKERS },
                                   .scale = { .on = true, .wait_ms = 0, .idle_ms = 1 } };
}

void lessors_build(struct world *world, struct executor *executor)
{
    static const char *const paths[WORLD_LESSORS] = { "lessors/a", "lessors/b" };
    struct pool_options group = { .path = "lessors",
                                  .dispatcher = world->dispatchers[0],
                                  .settings = { .route = WEIR_ROUTE_LEAST_LOADED,
                                                .lease = { true, 0, WORLD_TAKERS } } };

    world->lessors = build(world, executor, &group);
    for (uint32_t i = 0; i < WORLD_LESSORS; i++) {
        struct pool_options options = {
            .path = paths[i],
            .parent = world->lessors,
            .dispatcher = world->dispatchers[i % WORLD_DISPATCHERS],
            .spec = spec_create(&lessor, world),
            .settings = settings_of(1),
        };

        if (!options.spec)
            abort();
        world->lessor[i] = build(world, executor, &options);
        spec_unref(options.spec);
    }
}

void lessors_destroy(struct world *world, struct executor *executor)
{
    for (uint32_t i = 0; i < WORLD_LESSORS; i++)
        pool_destroy(world->lessor[i], executor);
    pool_destroy(world->lessors, executor);
}

/* --- takers ---------------------------------------------------------------------------------- */

/* Waits for the answer to a take. False: it is no lease. */
static bool get_lease(struct world *world, uint64_t reference, struct weir_lease *out)
{
    struct external_requests *requests = world->runtime->external_requests;
    struct external_request_answer answer;
    struct executor *executor;

    while (!external_requests_is_answered(requests, reference))
        world->options.wait(world->options.context);
    if (external_requests_await(requests, reference, &answer) == 0)
        memcpy(out, answer.reply->public.data, sizeof *out);
    world_expect(world, answer.status == 0, "a take has no lease", (uint64_t)-answer.status);
    executor = enter(world);
    message_destroy(&executor->cache, answer.reply);
    runtime_leave(executor);
    return answer.status == 0;
}

static void use(struct agent *agent, const struct weir_lease *lease)
{
    struct world *world = agent->world;
    struct executor *executor = enter(world);
    struct message *message = message_create(&executor->cache, NULL, 0);
    int status;

    if (!message)
        abort();
    status = runtime_lease_send(world->runtime, LEASE_OF_PROGRAM, lease, &message->public);
    world_expect(world, status == 0, "a holder cannot use its lease", (uint64_t)-status);
    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    world->options.step_aside(world->options.context);
}

void lessors_take(struct agent *agent)
{
    struct world *world = agent->world;
    const uint32_t drawn = draw(agent, 4);
    weir_pid from = drawn < WORLD_LESSORS ? world->lessor[drawn]->pid : world->lessors->pid;
    struct weir_lease lease;
    uint64_t reference;
    int status = runtime_take(world->runtime, NULL, from, LONG_MS, &reference);

    world_expect(world, status == 0 || status == WEIR_EFULL, "a take fails", (uint64_t)-status);
    if (status != 0 || !get_lease(world, reference, &lease))
        return;
    if (draw(agent, 2))
        use(agent, &lease);
    status = runtime_lease_return(world->runtime, LEASE_OF_PROGRAM, &lease,
                                  draw(agent, 4) ? WEIR_DONE : WEIR_FAIL);
    world_expect(world, status == 0, "a lease cannot be returned", (uint64_t)-status);
    atomic_fetch_add(&world->leases, 1);
}

/* --- changes --------------------------------------------------------------------------------- */

/* Takers wait meanwhile, also when the other pool is at its maximum. */
static void pause_and_resume(struct agent *agent, struct pool *pool)
{
    struct world *world = agent->world;

    for (int paused = 1; paused >= 0; paused--) {
        struct executor *executor = enter(world);

        pool_pause(pool, paused, executor);
        runtime_leave(executor);
        for (uint32_t i = draw(agent, 8); i > 0; i--)
            world->options.step_aside(world->options.context);
    }
}

static struct pool_change *prepare(struct agent *agent, struct pool *pool)
{
    struct world *world = agent->world;
    uint32_t size_max = 1 + draw(agent, 2);
    struct pool_change_options options = {
        .size = draw(agent, size_max + 1),
        .settings = settings_of(size_max),
        .dispatcher = world->dispatchers[draw(agent, WORLD_DISPATCHERS)],
    };
    struct executor *executor = enter(world);
    struct pool_change *change = NULL;
    int status;

    if (draw(agent, 2) && !(options.spec = spec_create(&lessor, world)))
        abort();
    status = pool_change_prepare(pool, executor, &options, &change);
    runtime_leave(executor);
    if (options.spec)
        spec_unref(options.spec);
    world_expect(world, status == 0, "a lessor's change cannot be prepared", (uint64_t)-status);
    return change;
}

static void await_prepared(struct world *world, struct pool *pool)
{
    struct pool_opening opening;

    for (;;) {
        opening = (struct pool_opening){ 0 };
        pool_opening_prepared(pool, &opening);
        if (opening.starting == 0)
            return;
        world->options.wait(world->options.context);
    }
}

static void reload(struct agent *agent, struct pool *pool)
{
    struct pool_change *change = prepare(agent, pool);
    struct executor *executor;

    if (!change)
        return;
    await_prepared(agent->world, pool);
    executor = enter(agent->world);
    if (draw(agent, 4))
        pool_change_commit(change, executor);
    else
        pool_change_abort(change, executor);
    runtime_leave(executor);
}

void lessors_change(struct agent *agent)
{
    struct pool *pool = agent->world->lessor[draw(agent, WORLD_LESSORS)];

    if (draw(agent, 2))
        pause_and_resume(agent, pool);
    else
        reload(agent, pool);
    atomic_fetch_add(&agent->world->changes, 1);
}

/* --- the reader ------------------------------------------------------------------------------ */

static void read_pool(struct world *world, struct pool *pool)
{
    struct weir_member members[MEMBERS_SHOWN];
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct dead_letters_figures dead = { 0 };
    struct pool_opening opening = { 0 };
    struct ledger_reading ledger;
    struct pool_scaling scaling;
    struct pool_leases leases;

    pool_stats(pool, &stats);
    pool_ledger(pool, &ledger);
    world_expect(world, ledger_reading_difference(&ledger) == 0, "read figures do not balance",
                 ledger.accepted);
    world_expect(world, ledger.accepted >= stats.accepted, "accepted goes back", stats.accepted);
    (void)pool_members(pool, members, sizeof members[0], MEMBERS_SHOWN);
    (void)pool_emitted(pool);
    (void)pool_misuses(pool);
    pool_dead(pool, &dead);
    pool_opening(pool, &opening);
    pool_look_at_scale(pool, &scaling);
    pool_look_at_leases(pool, &leases);
}

void lessors_read(struct agent *agent)
{
    struct world *world = agent->world;
    struct executor *executor = enter(world);

    read_pool(world, world->top);
    for (uint32_t i = 0; i < HALLS; i++)
        read_pool(world, world->halls[i].pool);
    read_pool(world, world->lessors);
    for (uint32_t i = 0; i < WORLD_LESSORS; i++)
        read_pool(world, world->lessor[i]);
    (void)source_emitted(world->source);
    runtime_leave(executor);
}
