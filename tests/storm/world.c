/* SPDX-License-Identifier: MIT */
#include "storm/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WRONG_SHOWN 20u /* further failures are only counted */

void world_expect(struct world *world, bool holds, const char *what, uint64_t figure)
{
    if (holds)
        return;
    if (atomic_fetch_add(&world->wrong, 1) < WRONG_SHOWN)
        (void)fprintf(stderr, "wrong: %s (%" PRIu64 ")\n", what, figure);
}

uint64_t world_dice(const struct world *world, uint64_t a, uint64_t b)
{
    uint64_t x = world->options.seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u +
                 b * 0x94d049bb133111ebu;

    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return (x ^ x >> 32) >> 8;
}

uint64_t world_ticket(struct world *world)
{
    uint64_t id = atomic_fetch_add(&world->issued, 1);

    return id < world->options.messages ? id : UINT64_MAX;
}

void world_note(struct world *world, uint64_t what)
{
    if (world->options.note)
        world->options.note(world->options.context, what);
}

/* --- building ------------------------------------------------------------------------------- */

struct plan {
    const char *path;
    uint32_t size;
    uint32_t limit;
    enum weir_route route;
    enum weir_remove remove;
    uint32_t redeliver;
    uint32_t dispatcher;
};

static const struct plan plans[HALLS] = {
    [HALL_A] = { "front/a", 3, 8, WEIR_ROUTE_ROUND_ROBIN, WEIR_REMOVE_DRAIN, 0, 0 },
    [HALL_B] = { "front/b", 3, WEIR_UNBUFFERED, WEIR_ROUTE_LEAST_LOADED, WEIR_REMOVE_REROUTE, 0,
                 1 },
    [HALL_BACK] = { "back", 3, 8, WEIR_ROUTE_RANDOM, WEIR_REMOVE_REROUTE, 1, 0 },
    [HALL_ANSWER] = { "answer", 3, 4, WEIR_ROUTE_ROUND_ROBIN, WEIR_REMOVE_DRAIN, 0, 1 },
    [HALL_KEYED] = { "keyed", 3, 6, WEIR_ROUTE_HASH, WEIR_REMOVE_DISCARD, 1, 0 },
    [HALL_PULL] = { "pull", 3, 3, WEIR_ROUTE_PULL, WEIR_REMOVE_DRAIN, 1, 0 },
    [HALL_ALL] = { "all", 3, 2, WEIR_ROUTE_BROADCAST, WEIR_REMOVE_DRAIN, 0, 1 },
    [HALL_LINE] = { "line", 1, 16, WEIR_ROUTE_ROUND_ROBIN, WEIR_REMOVE_DRAIN, 0, 1 },
};

static struct spec *spec_for(struct hall *hall, enum hall_name name)
{
    struct spec *spec = spec_create(workers_of(name), hall);

    if (!spec)
        abort();
    /* Short pauses, so that places that wait to be opened again are part of the storm. */
    spec->restart.max = 5;
    spec->restart.backoff_ms_min = 1;
    spec->restart.backoff_ms_max = 4;
    spec->retry.max = WORLD_RETRIES_MAX;
    spec->redeliver_max = plans[name].redeliver;
    return spec;
}

void world_make_elastic(enum hall_name name, bool on_demand, struct pool_settings *settings)
{
    settings->size_min = 0;
    settings->size_max = WORLD_SIZE_MAX;
    settings->scale = (struct scale){ .on = name != HALL_ALL && name != HALL_LINE,
                                      .wait_ms = on_demand ? 0 : 1,
                                      .idle_ms = 2 };
}

static void build_hall(struct world *world, struct executor *executor, enum hall_name name)
{
    const struct plan *plan = &plans[name];
    struct hall *hall = &world->halls[name];
    const struct dead_letters_bounds all = { UINT32_MAX, UINT64_MAX };
    struct pool_options options = {
        .path = plan->path,
        .parent = name <= HALL_B ? world->top : NULL,
        .dispatcher = world->dispatchers[plan->dispatcher],
        .size = plan->size,
        .settings.mailbox = plan->limit,
        .settings.route = plan->route,
        .settings.remove.mode = plan->remove,
        .dead_letters = &all,
        .output_count = 3,
    };

    if (world->options.elastic)
        world_make_elastic(name, world_dice(world, name, 7) % 2, &options.settings);
    hall->world = world;
    hall->target = plan->size;
    pthread_mutex_init(&hall->lock, NULL);
    options.spec = spec_for(hall, name);
    if (pool_create(world->runtime, executor, &options, &hall->pool) != 0)
        abort();
    spec_unref(options.spec);
    hall->pid = hall->pool->pid;
}

static void build_source(struct world *world, struct executor *executor)
{
    const struct dead_letters_bounds all = { UINT32_MAX, UINT64_MAX };
    struct source_options options = { .path = "source",
                                      .dispatcher = world->dispatchers[0],
                                      .target = world->front,
                                      .output_count = 1,
                                      .dead_letters = &all };

    world->source_spec = spec_create(workers_source(), world);
    options.spec = world->source_spec;
    if (!options.spec || source_create(world->runtime, executor, &options, &world->source) != 0)
        abort();
}

static size_t tickets_size(const struct world *world)
{
    return world->options.messages * sizeof *world->tickets;
}

void world_init(struct world *world, const struct world_options *options)
{
    struct runtime_options runtime = { .clock = options->clock };
    struct executor *executor;

    *world = (struct world){ .options = *options };
    /* Without calloc, since ThreadSanitizer's touches all of the memory. */
    world->tickets = mmap(NULL, tickets_size(world), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (world->tickets == MAP_FAILED || runtime_create(&runtime, &world->runtime) != 0 ||
        runtime_add_dispatcher(world->runtime, "default", 3, NULL, &world->dispatchers[0]) != 0 ||
        runtime_add_dispatcher(world->runtime, "other", 2,
                               &(struct dispatcher_policy){ .budget = 4 },
                               &world->dispatchers[1]) != 0)
        abort();
    pthread_mutex_init(&world->wiring, NULL);
    executor = runtime_enter(world->runtime);
    if (!executor ||
        pool_create(world->runtime, executor,
                    &(struct pool_options){ .path = "front", .dispatcher = world->dispatchers[0] },
                    &world->top) != 0)
        abort();
    world->front = world->top->pid;
    for (int i = HALLS - 1; i >= 0; i--)
        build_hall(world, executor, (enum hall_name)i);
    lessors_build(world, executor);
    runtime_leave(executor);
    agents_invite(world);
    executor = runtime_enter(world->runtime);
    build_source(world, executor);
    runtime_leave(executor);
}

/* --- all pools there are -------------------------------------------------------------------- */

struct pool *world_pool(struct world *world, uint32_t number)
{
    if (number < HALLS)
        return world->halls[number].pool;
    return number == HALLS && world->guests ? world->guest[(world->guests - 1) % 2].pool : NULL;
}

/* --- calm ----------------------------------------------------------------------------------- */

void world_calm(struct world *world)
{
    struct executor *executor = runtime_enter(world->runtime);

    atomic_store(&world->calm, true);
    for (uint32_t i = 0; i < HALLS; i++) {
        struct pool *pool = world->halls[i].pool;

        if (flags_is_paused(&pool->flags))
            pool_pause(pool, false, executor);
        if (pool_target(pool) == 0 && pool_resize(pool, executor, 1, NULL) != 0)
            abort();
    }
    runtime_leave(executor);
}

static bool is_empty(struct pool *pool)
{
    struct ledger_reading reading;

    pool_ledger(pool, &reading);
    return reading.queued == 0 && reading.in_hand == 0 && reading.held == 0;
}

bool world_has_drained(struct world *world)
{
    struct pool *pool;

    for (uint32_t i = 0; (pool = world_pool(world, i)); i++)
        if (!is_empty(pool))
            return false;
    return is_empty(world->lessors);
}

/* --- the end -------------------------------------------------------------------------------- */

static void wait_for_end(struct world *world, struct pool *pool)
{
    struct executor *executor = runtime_enter(world->runtime);

    pool_close(pool, executor);
    runtime_leave(executor);
    while (!pool_has_ended(pool))
        world->options.wait(world->options.context);
}

void world_close(struct world *world)
{
    static const enum hall_name others[] = { HALL_ANSWER, HALL_BACK, HALL_KEYED,
                                             HALL_PULL,   HALL_ALL,  HALL_LINE };
    struct executor *executor = runtime_enter(world->runtime);

    source_close(world->source, executor);
    runtime_leave(executor);
    while (!atomic_load(&world->source->ended))
        world->options.wait(world->options.context);
    wait_for_end(world, world->top);
    wait_for_end(world, world->lessors);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        wait_for_end(world, world->halls[others[i]].pool);
    wait_for_end(world, world_pool(world, HALLS));
}

/* --- accounts ------------------------------------------------------------------------------- */

static void expect_letter(struct world *world, const struct dead_letter *letter,
                          const struct ticket *ticket, uint64_t id)
{
    atomic_fetch_add(&world->dead_by_reason[letter->reason], 1);
    if (letter->reason == DEAD_RETRIES)
        world_expect(world, ticket->retried > WORLD_RETRIES_MAX, "dead before its last retry", id);
    /* An output gets its new target before the old one closes. */
    world_expect(world, letter->reason != DEAD_NO_TARGET, "emitted to nobody", id);
}

/* Returns their number. */
static uint64_t count_letters(struct world *world, struct dead_letters *letters)
{
    struct dead_message *dead = dead_letters_take(letters);
    uint64_t count = 0;

    while (dead) {
        struct dead_message *next = dead->next;
        struct parcel parcel;

        memcpy(&parcel, dead->payload, sizeof parcel);
        atomic_fetch_add(&world->tickets[parcel.id].dead, 1);
        expect_letter(world, &dead->letter, &world->tickets[parcel.id], parcel.id);
        count++;
        free(dead);
        dead = next;
    }
    return count;
}

/* All counted dead letters have been taken, each once. */
static void expect_letters(struct world *world, struct dead_letters *letters, uint64_t buried)
{
    struct dead_letters_figures figures = { 0 };

    buried += count_letters(world, letters);
    dead_letters_figures(letters, &figures);
    world_expect(world, buried == dead_letters_total(&figures), "letters are missing", buried);
}

void world_collect(struct world *world, struct hall *hall)
{
    atomic_fetch_add(&hall->buried, count_letters(world, &hall->pool->dead));
}

static void expect_ledger(struct world *world, struct pool *pool)
{
    struct ledger_reading reading;

    pool_ledger(pool, &reading);
    world_expect(world, ledger_reading_difference(&reading) == 0, "a ledger does not balance",
                 reading.accepted);
    world_expect(world, is_empty(pool), "something is left in an ended pool", reading.queued);
}

void world_bury(struct world *world, struct hall *hall)
{
    struct executor *executor = runtime_enter(world->runtime);
    struct pool *pool = hall->pool;

    expect_ledger(world, pool);
    expect_letters(world, &pool->dead, atomic_load(&hall->buried));
    world->restarts += pool->gone_restarts;
    pool_destroy(pool, executor);
    runtime_leave(executor);
}

/* True when the ticket says what it must. Who of the members had a copy is not known: each at most
 * one, and at least one of them. */
static bool is_settled(const struct ticket *ticket)
{
    uint32_t ends = (uint32_t)ticket->done + ticket->dead + ticket->returned;
    uint32_t most = ticket->shared ? ticket->accepted * WORLD_SIZE_MAX : ticket->accepted;

    return ticket->accepted <= 1 && ends >= ticket->accepted && ends <= most &&
           ticket->begun <= (ticket->accepted ? most + ticket->again : 0u) &&
           (ticket->begun > 0 || ticket->done == 0) && ticket->notified == 0 &&
           ticket->answered == ticket->asked;
}

static void expect_ticket(struct world *world, uint64_t id)
{
    const struct ticket *ticket = &world->tickets[id];

    if (is_settled(ticket))
        return;
    world_expect(world, false, "a message is not accounted for", id);
    if (atomic_load(&world->wrong) < WRONG_SHOWN)
        (void)fprintf(stderr,
                      "    accepted %u begun %u again %u done %u dead %u returned %u notified %u "
                      "asked %u answered %u\n",
                      ticket->accepted, ticket->begun, ticket->again, ticket->done, ticket->dead,
                      ticket->returned, ticket->notified, ticket->asked, ticket->answered);
}

static void expect_answers(struct world *world)
{
    uint64_t answers = 0;

    for (uint32_t i = 0; i < WORLD_ANSWERS; i++)
        answers += atomic_load(&world->answers[i]);
    world_expect(world, answers == atomic_load(&world->asked), "questions without an answer",
                 atomic_load(&world->asked) - answers);
}

void world_examine(struct world *world)
{
    uint64_t issued = atomic_load(&world->issued);

    if (issued > world->options.messages)
        issued = world->options.messages;
    expect_ledger(world, world->top);
    expect_ledger(world, world->lessors);
    for (int i = 0; i < HALLS; i++)
        world_bury(world, &world->halls[i]);
    world_bury(world, &world->guest[(world->guests - 1) % 2]);
    expect_letters(world, &world->source->dead, 0);
    for (uint64_t id = 0; id < issued; id++)
        expect_ticket(world, id);
    world_expect(world, world->opened == world->closed, "opened and not closed", world->opened);
    expect_answers(world);
    world_expect(world, world->overlaps == 0, "callbacks overlap", world->overlaps);
}

void world_finish(struct world *world)
{
    struct executor *executor = runtime_enter(world->runtime);

    pool_destroy(world->top, executor);
    lessors_destroy(world, executor);
    source_destroy(world->source, executor);
    spec_unref(world->source_spec);
    runtime_leave(executor);
    if (runtime_stop(world->runtime) != 0)
        abort();
    runtime_destroy(world->runtime);
    for (int i = 0; i < HALLS; i++)
        pthread_mutex_destroy(&world->halls[i].lock);
    pthread_mutex_destroy(&world->wiring);
    (void)munmap(world->tickets, tickets_size(world));
}
