/* SPDX-License-Identifier: MIT */
/* Building, running and ending a world: pairs.h. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs/pairs.h"

#define SENDERS 2u
#define AGENTS_MAX (SENDERS + 3u)
#define WRONG_SHOWN 10u

/* The state of a pool, for those who look for the cause. */
static void print_pool(struct world *world, const char *name, weir_pid pid)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    if (pid == 0 || weir_runtime_pool_stats(world->runtime, pid, &stats) != 0)
        return;
    (void)fprintf(
        stderr,
        "    %s: target %u live %u starting %u stopped %u retiring %u busy %u%s limit %d, "
        "queued %" PRIu64 " in hand %" PRIu64 " held %" PRIu64 " retrying %" PRIu64
        " senders %" PRIu64 " restarts %" PRIu64 "\n",
        name, stats.target, stats.live, stats.starting, stats.stopped, stats.retiring, stats.busy,
        stats.paused ? " paused" : "", (int)stats.limit, stats.queued, stats.in_hand, stats.held,
        stats.retrying, stats.waiting, stats.restarts);
}

void world_expect(struct world *world, bool holds, const char *what, int64_t figure)
{
    uint32_t before;

    if (holds)
        return;
    before = atomic_fetch_add(&world->wrong, 1);
    if (before < WRONG_SHOWN)
        (void)fprintf(stderr, "wrong: %s (%" PRId64 ")\n", what, figure);
    if (before > 0)
        return;
    print_pool(world, "sink", world->sink);
    for (uint32_t i = 0; i < world->leaf_count; i++)
        print_pool(world, world->leaf_count > 1 ? i ? "main/b" : "main/a" : "main",
                   world->leaves[i]);
}

uint32_t world_dice(const struct world *world, uint64_t a, uint64_t b)
{
    uint64_t x = world->seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u +
                 b * 0x94d049bb133111ebu;

    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return (uint32_t)(x >> 33);
}

uint32_t agent_draw(struct agent *agent, uint32_t bound)
{
    agent->random = agent->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(agent->random >> 33) % bound;
}

void world_yield(void)
{
    (void)sched_yield();
}

void world_count(struct world *world, uint32_t index)
{
    if (index < 2)
        atomic_fetch_add(&world->counts[index], 1);
}

/* --- the plan --------------------------------------------------------------------------------- */

static struct weir_pool_options any_pool(struct world *world, uint64_t salt)
{
    static const uint32_t limits[] = { 1, 2, 4, 16, WEIR_UNBUFFERED };
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.workers = 1 + world_dice(world, salt, 1) % 3;
    options.limit = limits[world_dice(world, salt, 2) % 5];
    options.remove = world_dice(world, salt, 3) % 3;
    options.restart_max = 3;
    options.restart_backoff_ms_min = 1;
    options.restart_backoff_ms_max = 4;
    options.restart_then = WEIR_RESTART_KEEP_TRYING;
    options.min_ready = WEIR_MIN_READY_NONE;
    return options;
}

static bool is_for_groups(uint32_t route)
{
    return route == WEIR_ROUTE_ROUND_ROBIN || route == WEIR_ROUTE_LEAST_LOADED ||
           route == WEIR_ROUTE_RANDOM;
}

/* Puts a route where it is possible: pools of pools do not pull, pools that scale do not broadcast,
 * and what gives leases has routes of its own. */
static void place_route(struct plan *plan, uint32_t route, bool *parent_has, bool *leaf_has)
{
    bool parent_may = plan->is_nested && !*parent_has && route != WEIR_ROUTE_PULL &&
                      (!plan->has_leases || is_for_groups(route));
    bool leaf_may = !*leaf_has && !plan->has_leases &&
                    !(plan->is_elastic && route == WEIR_ROUTE_BROADCAST);

    if (parent_may) {
        plan->parent.route = route;
        *parent_has = true;
    } else if (leaf_may) {
        plan->leaf.route = route;
        *leaf_has = true;
    } else {
        plan->sink.route = route;
    }
}

static void make_plan(struct world *world)
{
    struct plan *plan = &world->plan;
    bool parent_has = false, leaf_has = false;

    plan->leaf = any_pool(world, 1);
    plan->parent = any_pool(world, 2);
    plan->sink = any_pool(world, 3);
    for (uint32_t i = 0; i < 2; i++)
        if (world->pair[i]->shape)
            world->pair[i]->shape(plan);
    if (plan->route_count == 2 && plan->routes[0] != plan->routes[1] && !plan->has_leases) {
        plan->is_nested = true;
        if (plan->routes[0] == WEIR_ROUTE_PULL) {
            plan->routes[0] = plan->routes[1];
            plan->routes[1] = WEIR_ROUTE_PULL;
        }
    }
    for (uint32_t i = 0; i < plan->route_count; i++) {
        plan->may_stop |= plan->one_never_opens &&
                          plan->routes[i] == WEIR_ROUTE_HASH; /* its keys */
        place_route(plan, plan->routes[i], &parent_has, &leaf_has);
    }
    if (plan->has_leases) {
        plan->leaf.route = plan->is_nested ? 0 : WEIR_ROUTE_PULL;
        plan->leaf.lease = 1;
        if (plan->leaf.limit == WEIR_UNBUFFERED)
            plan->leaf.limit = 4;
        plan->parent.lease = plan->is_nested;
        plan->leases_last = world_dice(world, 11, 0) % 2;
        plan->leaf.lease_timeout_ms = plan->leases_last ? 10 * LONG_MS : 50;
        plan->parent.lease_timeout_ms = plan->leaf.lease_timeout_ms;
    }
}

/* --- making ----------------------------------------------------------------------------------- */

static void expect_made(int status)
{
    if (status == 0)
        return;
    (void)fprintf(stderr, "a pool cannot be made: %s\n", weir_status_name(status));
    abort();
}

static void add_leaf(struct world *world, const char *path, weir_pid parent, uint32_t number)
{
    static const char *const events[] = { "news" };
    struct weir_binding output = { world->sink, world_dice(world, 4, number) % 4, 0 };
    struct weir_pool_options options = world->plan.leaf;

    world->roles[number] = (struct role){ world, number };
    options.path = path;
    options.parent = parent;
    options.behaviour = &world->workers;
    options.settings = &world->roles[number];
    options.outputs = &output;
    options.output_count = 1;
    if (world->plan.has_events) {
        options.subscribe = events;
        options.subscribe_count = 1;
        options.fan_out = world_dice(world, 6, number) % 2;
    }
    expect_made(weir_runtime_add_pool(world->runtime, &options, &world->leaves[number]));
    world->leaf_count = number + 1;
}

static void add_main(struct world *world)
{
    struct weir_pool_options options = world->plan.parent;

    if (!world->plan.is_nested) {
        add_leaf(world, "main", 0, 0);
        world->main = world->leaves[0];
        return;
    }
    options.path = "main";
    options.restart_then = WEIR_RESTART_USUAL;
    expect_made(weir_runtime_add_pool(world->runtime, &options, &world->main));
    add_leaf(world, "main/a", world->main, 0);
    add_leaf(world, "main/b", world->main, 1);
}

static void add_sink(struct world *world)
{
    struct weir_pool_options options = world->plan.sink;

    world->roles[LEAVES_MAX] = (struct role){ world, LEAVES_MAX };
    options.path = "sink";
    options.behaviour = &world->sinks;
    options.settings = &world->roles[LEAVES_MAX];
    expect_made(weir_runtime_add_pool(world->runtime, &options, &world->sink));
}

static void add_source(struct world *world)
{
    struct weir_binding output = { world->main, WEIR_FULL_WAIT, 0 };
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;

    if (!world->plan.has_source)
        return;
    options.name = "source";
    options.behaviour = &world->produces;
    options.settings = &world->roles[0];
    options.outputs = &output;
    options.output_count = 1;
    expect_made(weir_runtime_add_actor(world->runtime, &options, &world->source));
}

static void build(struct world *world)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;

    options.threads = 1 + world_dice(world, 10, 0) % 3;
    options.budget = 1 + world_dice(world, 10, 1) % 32;
    options.dead_letters = 10000;
    world->tickets = calloc(TICKETS, sizeof *world->tickets);
    if (!world->tickets)
        abort();
    pthread_mutex_init(&world->pausing, NULL);
    pthread_mutex_init(&world->changing, NULL);
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->change, NULL);
    make_plan(world);
    workers_init(world);
    expect_made(weir_runtime_create(&options, &world->runtime));
    expect_made(weir_runtime_add_dispatcher(world->runtime, "other", 1, 0));
    add_sink(world);
    add_main(world);
    add_source(world);
}

/* --- threads outside -------------------------------------------------------------------------- */

/* Sends plain messages, and those of the features, to main. */
static void send_some(struct agent *agent)
{
    struct world *world = agent->world;

    for (uint32_t count = 1 + agent_draw(agent, 4); count > 0; count--) {
        struct parcel parcel = { .deed = deed_any(world, agent_draw(agent, 4)) };
        struct weir_message *message;
        bool waits = agent_draw(agent, 4) == 0;
        int status;

        parcel.ticket = ticket_new(world, NO_TICKET);
        if (parcel.ticket == NO_TICKET)
            return;
        message = parcel_outside(world, &parcel);
        ticket_send(world, parcel.ticket, world->main);
        status = waits ? weir_runtime_send_wait(world->runtime, world->main, message,
                                                world->plan.may_stop ? 1 : LONG_MS)
                       : weir_runtime_send(world->runtime, world->main, WEIR_NORMAL, message);
        if (status == 0)
            continue;
        world_expect(world, status != WEIR_ETIMEOUT || world->plan.may_stop,
                     "a sender waits for ever", parcel.ticket);
        ticket_refuse(world, parcel.ticket);
        weir_runtime_message_free(world->runtime, message);
    }
}

static void read_some(struct agent *agent)
{
    struct world *world = agent->world;
    weir_pid pids[] = { world->main, world->sink, world->leaves[0] };
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct weir_ledger ledger = WEIR_LEDGER;

    if (weir_runtime_pool_stats(world->runtime, pids[agent_draw(agent, 3)], &stats) != 0 ||
        weir_runtime_ledger(world->runtime, pids[agent_draw(agent, 3)], &ledger) != 0)
        abort();
    world_expect(world,
                 stats.accepted == stats.done + stats.dead + stats.moved + stats.queued +
                                       stats.in_hand + stats.held,
                 "figures do not add up", (int64_t)stats.accepted);
    world_expect(world,
                 ledger.accepted == ledger.done + ledger.dead + ledger.moved + ledger.queued +
                                        ledger.in_hand + ledger.held,
                 "a ledger does not add up", (int64_t)ledger.accepted);
    world_expect(world, stats.live <= stats.target, "more are open than the target", stats.live);
}

static void *run_agent(void *context)
{
    struct agent *agent = context;

    for (uint32_t i = 0; i < agent->world->acts && atomic_load(&agent->world->wrong) == 0; i++) {
        agent->act(agent);
        world_yield();
    }
    if (agent->calm)
        agent->calm(agent);
    return NULL;
}

static void start(struct agent *agent)
{
    agent->random = world_dice(agent->world, 100, agent->index);
    if (pthread_create(&agent->thread, NULL, run_agent, agent) != 0)
        abort();
}

/* What one has undone the other may have done again, as a reload that began before. */
static void calm_all(struct agent *agents, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (agents[i].calm)
            agents[i].calm(&agents[i]);
}

static void run_agents(struct world *world)
{
    struct agent agents[AGENTS_MAX];
    uint32_t count = 0, of_features;

    for (uint32_t i = 0; i < 2; i++)
        if (world->pair[i]->act)
            agents[count++] = (struct agent){
                .world = world, .index = i, .act = world->pair[i]->act, .calm = world->pair[i]->calm
            };
    of_features = count;
    for (uint32_t i = 0; i < SENDERS; i++)
        agents[count++] = (struct agent){ .world = world, .index = 2 + i, .act = send_some };
    agents[count++] = (struct agent){ .world = world, .index = 2 + SENDERS, .act = read_some };
    for (uint32_t i = 0; i < count; i++)
        start(&agents[i]);
    for (uint32_t i = 0; i < count; i++) {
        if (i == of_features)
            calm_all(agents, of_features);
        pthread_join(agents[i].thread, NULL);
    }
}

/* --- the end ---------------------------------------------------------------------------------- */

/* All workers can be taken at the same time: none has been lost. */
static void expect_capacity(struct world *world)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct weir_lease leases[LEAVES_MAX * SIZE_MAX_HERE];
    uint32_t wanted;

    if (!world->plan.has_leases || world->plan.may_stop)
        return;
    if (weir_runtime_pool_stats(world->runtime, world->main, &stats) != 0)
        abort();
    wanted = world->plan.is_elastic ? world->leaf_count * SIZE_MAX_HERE : stats.target;
    if (world->plan.one_never_opens)
        wanted -= wanted > world->leaf_count ? world->leaf_count : 0;
    for (uint32_t i = 0; i < wanted; i++) {
        int status = weir_runtime_take(world->runtime, world->main, LONG_MS, &leases[i]);

        world_expect(world, status == 0, "a free worker cannot be taken", status);
        if (status != 0)
            wanted = i;
    }
    for (uint32_t i = 0; i < wanted; i++)
        (void)weir_runtime_return(world->runtime, &leases[i], WEIR_DONE);
}

static void expect_idle(struct world *world)
{
    for (uint32_t i = 0; i < world->leaf_count; i++)
        world_expect(world, weir_runtime_wait_idle(world->runtime, world->leaves[i], LONG_MS) == 0,
                     "what could go on does not, in main", i);
    world_expect(world, weir_runtime_wait_idle(world->runtime, world->sink, LONG_MS) == 0,
                 "what could go on does not, in the sink", 0);
}

static void end(struct world *world, pthread_t settler)
{
    if (atomic_load(&world->wrong) == 0)
        expect_idle(world);
    if (atomic_load(&world->wrong) == 0)
        expect_capacity(world);
    world_expect(world, weir_runtime_shutdown(world->runtime, LONG_MS) == 0,
                 "what was closed does not end", 0);
    pthread_mutex_lock(&world->lock);
    world->is_ending = true;
    pthread_cond_signal(&world->change);
    pthread_mutex_unlock(&world->lock);
    pthread_join(settler, NULL);
    if (atomic_load(&world->wrong) == 0)
        tickets_examine(world);
    world_expect(world, world->opened == world->closed, "opened and not closed",
                 (int64_t)(world->opened - world->closed));
    world_expect(world, world->asked == world->answered, "requests without an answer",
                 (int64_t)(world->asked - world->answered));
    world_expect(world, world->tasks_run <= world->tasks_accepted || world->plan.leaf.redeliver,
                 "a task ran twice", (int64_t)world->tasks_run);
}

static void destroy(struct world *world)
{
    weir_runtime_destroy(world->runtime);
    pthread_mutex_destroy(&world->pausing);
    pthread_mutex_destroy(&world->changing);
    pthread_mutex_destroy(&world->lock);
    pthread_cond_destroy(&world->change);
    free(world->tickets);
}

/* A feature without an act and a deed is exercised by each message that main handles. */
static uint64_t exercised(const struct world *world, uint32_t index)
{
    const struct feature *feature = world->pair[index];

    return feature->act || feature->handle ? world->counts[index] : world->deliveries;
}

bool world_try(uint32_t first, uint32_t second, uint64_t seed, uint32_t acts, uint64_t *out_count)
{
    struct world *world = calloc(1, sizeof *world);
    pthread_t settler;
    uint64_t counts[2];
    bool good;

    if (!world)
        abort();
    world->seed = seed * 4096 + first * 64 + second;
    world->acts = acts;
    world->row[0] = first;
    world->row[1] = second;
    world->pair[0] = &features[first];
    world->pair[1] = &features[second];
    build(world);
    if (pthread_create(&settler, NULL, workers_settle, world) != 0)
        abort();
    run_agents(world);
    end(world, settler);
    good = atomic_load(&world->wrong) == 0;
    counts[0] = exercised(world, 0);
    counts[1] = exercised(world, 1);
    *out_count += counts[0] < counts[1] ? counts[0] : counts[1];
    destroy(world);
    free(world);
    return good;
}
