/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/send.h"
#include "pool/change.h"
#include "pool/settings.h"
#include "storm/world.h"

#define BATCH 8u

static uint32_t draw(struct agent *agent, uint32_t bound)
{
    agent->random = agent->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(agent->random >> 33) % bound;
}

void agent_init(struct agent *agent, struct world *world, enum agent_kind kind, uint32_t index)
{
    *agent = (struct agent){
        .world = world,
        .kind = kind,
        .index = index,
        .random = world_dice(world, 1000 + (uint64_t)kind, index),
        .unsent = UINT64_MAX,
    };
}

static struct executor *enter(struct world *world)
{
    struct executor *executor = runtime_enter(world->runtime);

    if (!executor)
        abort();
    return executor;
}

static void step_aside(struct world *world)
{
    world->options.step_aside(world->options.context);
}

/* --- senders -------------------------------------------------------------------------------- */

static weir_pid target_of(struct agent *agent, bool *out_line)
{
    struct world *world = agent->world;
    uint32_t drawn = draw(agent, 16);

    *out_line = drawn == 15;
    if (drawn < 9)
        return world->front;
    if (drawn < 11)
        return atomic_load(&world->guest_pid);
    return world
        ->halls[drawn < 12   ? HALL_BACK
                : drawn < 13 ? HALL_KEYED
                : drawn < 15 ? HALL_PULL
                             : HALL_LINE]
        .pid;
}

/* False: it was refused, and still belongs to this sender. */
static bool send_one(struct agent *agent, struct executor *executor, uint64_t id)
{
    struct world *world = agent->world;
    struct message *message = message_create(&executor->cache, NULL, sizeof(struct parcel));
    struct parcel parcel = { .id = id, .sender = UINT32_MAX };
    bool to_line;
    weir_pid to = target_of(agent, &to_line);
    int status;

    if (!message)
        abort();
    if (to_line)
        parcel = (struct parcel){ id, agent->index, ++agent->number };
    memcpy(message->public.data, &parcel, sizeof parcel);
    message->public.key = id + 1;
    atomic_fetch_add(&world->tickets[id].accepted, 1);
    status = send_message(world->runtime, executor, to, WEIR_NORMAL, message);
    if (status == 0)
        return true;
    atomic_fetch_sub(&world->tickets[id].accepted, 1);
    message_destroy(&executor->cache, message);
    if (status == WEIR_EFULL)
        atomic_fetch_add(&world->refused, 1);
    return false;
}

static void send_some(struct agent *agent)
{
    struct executor *executor = enter(agent->world);

    for (uint32_t count = 1 + draw(agent, BATCH); count > 0; count--) {
        uint64_t id = agent->unsent;

        if (id == UINT64_MAX)
            id = world_ticket(agent->world);
        if (id == UINT64_MAX)
            break;
        agent->unsent = send_one(agent, executor, id) ? UINT64_MAX : id;
        if (agent->unsent != UINT64_MAX)
            break;
        step_aside(agent->world);
    }
    runtime_leave(executor);
}

/* --- sizes, limits, pauses ------------------------------------------------------------------- */

static struct hall *any_hall(struct agent *agent)
{
    return &agent->world->halls[draw(agent, HALL_LINE)];
}

/* The same size is no change; another one adds one to the epoch. */
static void resize(struct agent *agent)
{
    struct hall *hall = any_hall(agent);
    struct executor *executor = enter(agent->world);
    uint32_t target = draw(agent, WORLD_SIZE_MAX + 1);
    struct weir_resized resized = { 0 };
    int status = pool_resize(hall->pool, executor, target, &resized);

    runtime_leave(executor);
    world_expect(agent->world, status == 0 && resized.size == target, "a resize fails", target);
    pthread_mutex_lock(&hall->lock);
    if (resized.epoch == hall->epoch)
        world_expect(agent->world, resized.size == hall->target, "two sizes of one epoch",
                     resized.epoch);
    if (resized.epoch >= hall->epoch) {
        hall->epoch = resized.epoch;
        hall->target = target;
    }
    pthread_mutex_unlock(&hall->lock);
    atomic_fetch_add(&agent->world->changes, 1);
}

/* The pool scales itself again, if its last reload has left it a law. */
static void scale_auto(struct agent *agent)
{
    struct hall *hall = any_hall(agent);
    struct executor *executor = enter(agent->world);
    int status = pool_scale_auto(hall->pool, executor);

    runtime_leave(executor);
    world_expect(agent->world, status == 0 || status == WEIR_EINVALID, "a law cannot go on",
                 (uint64_t)-status);
}

static void resize_or_not(struct agent *agent)
{
    if (!agent->world->options.elastic || draw(agent, 2))
        resize(agent);
    else
        scale_auto(agent);
}

static void pause_pool(struct agent *agent)
{
    struct hall *hall = &agent->world->halls[draw(agent, HALLS)];
    struct executor *executor = enter(agent->world);

    pool_pause(hall->pool, draw(agent, 3) == 0, executor);
    runtime_leave(executor);
}

static void set_limit(struct agent *agent)
{
    struct hall *hall = any_hall(agent);
    struct executor *executor = enter(agent->world);
    uint32_t limit = draw(agent, 9);

    pool_set_limit(hall->pool, limit ? limit : WEIR_UNBUFFERED, executor);
    runtime_leave(executor);
}

/* --- failures ------------------------------------------------------------------------------- */

static struct actor *any_member_locked(struct agent *agent, struct pool *pool)
{
    struct actor *actor = NULL;
    uint32_t at = draw(agent, WORLD_SIZE_MAX);

    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        if (at-- == 0)
            actor = LIST_ENTRY(node, struct place, link)->actor;
    return actor;
}

static void kill_one(struct agent *agent)
{
    static const uint32_t signals[] = { SIGNAL_KILL, SIGNAL_CRASH, SIGNAL_SHUTDOWN };
    struct pool *pool = agent->world->halls[draw(agent, HALLS)].pool;
    struct executor *executor = enter(agent->world);
    struct actor *actor;
    weir_pid pid = 0;

    lock_acquire(&pool->lock);
    actor = any_member_locked(agent, pool);
    if (actor)
        pid = actor_pid(actor);
    lock_release(&pool->lock);
    step_aside(agent->world);
    if (actor) /* in the read section its slot is not reused */
        (void)actor_signal(actor, actor_serial_of(pid), executor, signals[draw(agent, 3)]);
    runtime_leave(executor);
}

/* --- routes --------------------------------------------------------------------------------- */

/* Each output passes in bursts, or freely. */
static void throttle(struct agent *agent, struct wiring *wiring)
{
    for (uint32_t output = 0; output < 3; output++) {
        struct rate rate = { .messages = 2 + draw(agent, 8),
                             .burst = 1 + draw(agent, 4),
                             .per_ms = 1 };

        if (draw(agent, 2) && wiring_set_rate(wiring, output, &rate) != 0)
            abort();
    }
}

static struct wiring *wiring_to(struct agent *agent, weir_pid target)
{
    struct wiring *wiring = wiring_create(3);

    if (!wiring)
        abort();
    wiring->bindings[0] = (struct binding){ agent->world->halls[HALL_BACK].pid, WEIR_FULL_WAIT };
    wiring->bindings[1] = (struct binding){ target, (enum weir_when_full)draw(agent, 4) };
    wiring->bindings[2] = (struct binding){ agent->world->halls[HALL_ALL].pid,
                                            (enum weir_when_full)draw(agent, 4) };
    if (agent->world->options.rates)
        throttle(agent, wiring);
    return wiring;
}

static void rewire_locked(struct agent *agent, struct executor *executor, weir_pid target)
{
    for (int i = HALL_A; i <= HALL_B; i++)
        pool_set_wiring(agent->world->halls[i].pool, wiring_to(agent, target), executor);
}

static void reroute(struct agent *agent)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED,
                                              WEIR_ROUTE_RANDOM };
    struct world *world = agent->world;
    struct executor *executor = enter(world);
    weir_pid ways[] = { world->halls[HALL_BACK].pid, world->halls[HALL_PULL].pid,
                        atomic_load(&world->guest_pid) };
    uint32_t way = draw(agent, 3);

    pool_set_route(world->halls[draw(agent, 2)].pool, routes[draw(agent, 3)]);
    pthread_mutex_lock(&world->wiring);
    ways[2] = atomic_load(&world->guest_pid); /* the present one: the last is about to end */
    rewire_locked(agent, executor, ways[way]);
    pthread_mutex_unlock(&world->wiring);
    runtime_leave(executor);
}

/* --- changes as of a reload ------------------------------------------------------------------- */

static void wait_for(struct world *world)
{
    world->options.wait(world->options.context);
}

static void wait_until_prepared(struct world *world, struct pool *pool, bool *out_failed)
{
    struct pool_opening opening;

    for (;;) {
        opening = (struct pool_opening){ 0 };
        pool_opening_prepared(pool, &opening);
        if (opening.starting == 0)
            break;
        wait_for(world);
    }
    *out_failed = opening.failed > 0;
}

static struct pool_change_options changed(struct agent *agent, enum hall_name name)
{
    struct world *world = agent->world;
    struct pool_change_options options = {
        .size = draw(agent, WORLD_SIZE_MAX + 1),
        .settings.mailbox = 1 + draw(agent, 8),
        .settings.route = name == HALL_KEYED ? WEIR_ROUTE_HASH : (enum weir_route)draw(agent, 3),
        .settings.remove.mode = (enum weir_remove)draw(agent, 3),
        .settings.remove.timeout_ms = draw(agent, 3),
        .dispatcher = world->dispatchers[draw(agent, WORLD_DISPATCHERS)],
    };

    if (world->options.elastic && draw(agent, 3))
        world_make_elastic(name, draw(agent, 2), &options.settings);
    if (name == HALL_ALL)
        options.settings.route = WEIR_ROUTE_BROADCAST;
    if (name == HALL_PULL || (name == HALL_BACK && draw(agent, 3) == 0))
        options.settings.route = WEIR_ROUTE_PULL;
    return options;
}

static struct spec *another_spec(struct hall *hall)
{
    struct spec *spec = spec_create(hall->pool->spec->behaviour, hall);

    if (!spec)
        abort();
    spec->in_hand_max = hall->pool->spec->in_hand_max;
    spec->retry.max = hall->pool->spec->retry.max;
    spec->redeliver_max = hall->pool->spec->redeliver_max;
    spec->restart = hall->pool->spec->restart;
    return spec;
}

static void stop_workers(struct agent *agent, struct hall *hall)
{
    struct executor *executor = enter(agent->world);
    int status = pool_change_stop(hall->pool, executor);

    runtime_leave(executor);
    world_expect(agent->world, status == 0, "workers cannot be stopped", (uint64_t)-status);
    while (!pool_change_has_stopped(hall->pool))
        wait_for(agent->world);
}

static void reopen_workers(struct agent *agent, struct hall *hall)
{
    struct executor *executor;
    int status;

    while (!pool_change_has_stopped(hall->pool))
        wait_for(agent->world);
    executor = enter(agent->world);
    status = pool_change_reopen(hall->pool, executor);
    runtime_leave(executor);
    world_expect(agent->world, status == 0, "workers cannot be opened again", (uint64_t)-status);
}

/* False: it was aborted. */
static bool end_change(struct agent *agent, struct hall *hall, struct pool_change *change)
{
    struct world *world = agent->world;
    struct executor *executor;
    bool refused;

    wait_until_prepared(world, hall->pool, &refused);
    refused |= draw(agent, 4) == 0;
    executor = enter(world);
    if (refused)
        pool_change_abort(change, executor);
    else
        pool_change_commit(change, executor);
    runtime_leave(executor);
    return !refused;
}

/* A change of a pool: prepared, waited for, and committed or aborted. */
static void reload(struct agent *agent)
{
    struct world *world = agent->world;
    enum hall_name name = (enum hall_name)draw(agent, HALL_LINE);
    struct hall *hall = &world->halls[name];
    struct pool_change_options options = changed(agent, name);
    struct pool_change *change;
    bool exclusive = draw(agent, 4) == 0;
    struct executor *executor;
    int status;

    if (exclusive || draw(agent, 2))
        options.spec = another_spec(hall);
    if (exclusive) {
        atomic_store(&hall->stopped, true);
        stop_workers(agent, hall);
    }
    executor = enter(world);
    status = pool_change_prepare(hall->pool, executor, &options, &change);
    runtime_leave(executor);
    spec_unref(options.spec);
    world_expect(world, status == 0, "a change cannot be prepared", (uint64_t)-status);
    if (status != 0)
        return;
    if (!end_change(agent, hall, change) && exclusive)
        reopen_workers(agent, hall);
    atomic_store(&hall->stopped, false);
    atomic_fetch_add(&world->changes, 1);
}

/* --- the guest ------------------------------------------------------------------------------ */

static struct pool *make_guest(struct world *world, struct executor *executor)
{
    struct hall *hall = &world->guest[world->guests % 2];
    const struct dead_letters_bounds all = { UINT32_MAX, UINT64_MAX };
    struct pool_options options = { .path = world->guests % 2 ? "guest-odd" : "guest-even",
                                    .dispatcher = world->dispatchers[world->guests % 2],
                                    .size = 2,
                                    .settings.mailbox = 4,
                                    .dead_letters = &all };

    hall->world = world;
    options.spec = spec_create(workers_of(HALL_BACK), hall);
    if (!options.spec || pool_create(world->runtime, executor, &options, &hall->pool) != 0)
        abort();
    spec_unref(options.spec);
    hall->pid = hall->pool->pid;
    return hall->pool;
}

/* Its feeders get the next target before it closes, so none of their messages finds it closed. */
static void invite(struct agent *agent)
{
    struct world *world = agent->world;
    struct executor *executor = enter(world);
    struct hall *hall = NULL;
    struct pool *old;

    pthread_mutex_lock(&world->wiring);
    if (world->guests)
        hall = &world->guest[(world->guests - 1) % 2];
    old = hall ? hall->pool : NULL;
    atomic_store(&world->guest_pid, make_guest(world, executor)->pid);
    world->guests++;
    rewire_locked(agent, executor, atomic_load(&world->guest_pid));
    pthread_mutex_unlock(&world->wiring);
    step_aside(world);
    if (old)
        pool_close(old, executor);
    runtime_leave(executor);
    if (!old)
        return;
    while (!pool_has_ended(old))
        wait_for(world);
    world_bury(world, hall);
}

void agents_invite(struct world *world)
{
    struct agent agent;

    agent_init(&agent, world, AGENT_HOST, 1);
    invite(&agent);
}

/* --- the dead --------------------------------------------------------------------------------- */

/* The agent that replaces the guest takes the guest's. */
static void collect(struct agent *agent)
{
    world_collect(agent->world, &agent->world->halls[draw(agent, HALLS)]);
}

/* --- acting --------------------------------------------------------------------------------- */

void agent_act(struct agent *agent)
{
    static void (*const acts[AGENT_KINDS])(struct agent * agent) = {
        [AGENT_SENDER] = send_some,        [AGENT_RESIZER] = resize_or_not,
        [AGENT_PAUSER] = pause_pool,       [AGENT_LIMITER] = set_limit,
        [AGENT_KILLER] = kill_one,         [AGENT_REROUTER] = reroute,
        [AGENT_RELOADER] = reload,         [AGENT_HOST] = invite,
        [AGENT_SEXTON] = collect,          [AGENT_REQUESTER] = agents_request,
        [AGENT_READER] = lessors_read,     [AGENT_TAKER] = lessors_take,
        [AGENT_LANDLORD] = lessors_change,
    };

    acts[agent->kind](agent);
}
