/* SPDX-License-Identifier: MIT */
/*
 * Goal: in any order in which threads may go on, nothing is lost or done twice, limits are exact,
 * what can go on does, and every account balances at each moment; and the same seed gives the same
 * order, so that what was found is found again.
 *
 * Method: the world of world.h without threads. Executors and agents are fibers; the next fiber is
 * drawn from a seed, at every turn, inside handlers and at mutexes; the clock moves only when
 * nobody can go on, or a little with each step. After each step the pools are walked. When the
 * agents are through, the world is calmed and must drain; then it ends, and every message is
 * accounted for. The first seed is run twice.
 *
 *      test_simulation [--seed FIRST] [--seeds COUNT] [--acts EACH]
 *
 * promises Z1, Z2, Z3, E8, L10 and P14
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storm/fiber_executor.h"
#include "storm/walk.h"
#include "storm/world.h"

#define MESSAGES_PER_ACT 24u
#define AGENTS_MAX (WORLD_SENDERS + AGENT_KINDS + WORLD_REQUESTERS + WORLD_TAKERS)
#define EXECUTORS_MAX 16u
#define START_NS 1000000000u
#define QUIET_NS 3000000000u /* without an act */
#define BEAT_STEPS 500u      /* a thread that is exempt from thefts is so for eight beats */
#if defined(SIMULATION_STEPS)
#define STEPPED true /* weir_core_stepped: other fibers may run first at each atomic operation */
#define STEPS_MAX 10000000u /* of one seed: more means an endless loop */
#else
#define STEPPED false
#define STEPS_MAX 100000u
#endif

struct simulation {
    struct world world;
    struct fibers *fibers;
    struct walk walk;
    struct agent agents[AGENTS_MAX];
    uint32_t agent_count;
    uint32_t agents_left;
    uint32_t acts; /* of each agent */
    uint64_t now_ns;
    uint64_t acted_ns; /* the end of the last act */
    uint64_t step_ns;  /* the clock moves by at most this with each step */
    uint64_t steps;
    uint64_t steals;
    uint64_t yields; /* at the last wake-up of all */
    bool calmed;
    bool closed;
};

struct totals {
    uint64_t steps;
    uint64_t messages;
    uint64_t refused;
    uint64_t steals;
    uint64_t changes;
    uint64_t restarts;
    uint64_t dead;
    uint64_t replies; /* to outside requesters */
    uint64_t leases;
};

/* --- what the world asks for ----------------------------------------------------------------- */

static uint64_t now_ns(void *context)
{
    return ((struct simulation *)context)->now_ns;
}

static void step_aside(void *context)
{
    (void)context;
    fibers_may_yield();
}

static void wait_a_little(void *context)
{
    (void)context;
    fibers_rest();
}

static void note(void *context, uint64_t what)
{
    struct simulation *simulation = context;

    fibers_note(simulation->fibers, what);
}

/* --- fibers --------------------------------------------------------------------------------- */

static void run_agent(void *context)
{
    struct agent *agent = context;
    struct simulation *simulation = agent->world->options.context;

    for (uint32_t i = 0; i < simulation->acts && !atomic_load(&agent->world->calm); i++) {
        agent_act(agent);
        simulation->acted_ns = simulation->now_ns;
        fibers_yield();
    }
    simulation->agents_left--;
}

static void run_the_calm(void *context)
{
    struct simulation *simulation = context;

    world_calm(&simulation->world);
    simulation->calmed = true;
}

static void run_the_end(void *context)
{
    struct simulation *simulation = context;

    world_close(&simulation->world);
    simulation->closed = true;
}

/* Wakes resting executors for a fiber that has not yielded since. */
static bool is_work_waiting(const struct simulation *simulation)
{
    uint32_t waiting = 0;

    for (uint32_t i = 0; i < WORLD_DISPATCHERS; i++) {
        struct dispatcher *dispatcher = simulation->world.dispatchers[i];

        waiting += global_queue_count(&dispatcher->global);
        for (uint32_t j = 0; j < dispatcher_slot_count(dispatcher); j++)
            waiting += ring_count(&dispatcher_executor(dispatcher, j)->ring);
    }
    return waiting > 0;
}

/* --- time ----------------------------------------------------------------------------------- */

/* All fibers rest. One may have rested after the event that it waits for, so all look once more;
 * then the clock moves to the next deadline. False: there is none. */
static bool advance(struct simulation *simulation)
{
    uint64_t next = TIMER_NEVER;

    if (simulation->yields != fibers_yields(simulation->fibers)) {
        simulation->yields = fibers_yields(simulation->fibers);
        fibers_rouse(simulation->fibers);
        return true;
    }
    for (uint32_t i = 0; i < WORLD_DISPATCHERS; i++) {
        uint64_t due = atomic_load(&simulation->world.dispatchers[i]->timers.next_due_ns);

        next = due < next ? due : next;
    }
    if (next == TIMER_NEVER)
        return false;
    if (next > simulation->now_ns)
        simulation->now_ns = next;
    fibers_note(simulation->fibers, simulation->now_ns);
    fibers_rouse(simulation->fibers);
    return true;
}

/* There is no timekeeper. */
static void beat(struct simulation *simulation)
{
    for (uint32_t i = 0; i < WORLD_DISPATCHERS; i++)
        atomic_fetch_add(&simulation->world.dispatchers[i]->beat, 1);
}

/* Goes on until `done`, or until no fiber can go on and there is no deadline. */
static void go_on_until(struct simulation *simulation, bool (*done)(struct simulation *simulation))
{
    while (!done(simulation) && atomic_load(&simulation->world.wrong) == 0) {
        if (++simulation->steps > STEPS_MAX) {
            world_expect(&simulation->world, false, "it never ends, steps", simulation->steps);
            return;
        }
        if (is_work_waiting(simulation))
            fibers_rouse(simulation->fibers);
        if (!fibers_step(simulation->fibers) && !advance(simulation))
            return;
        if (simulation->steps % BEAT_STEPS == 0)
            beat(simulation);
        simulation->now_ns += fibers_draw(simulation->fibers, (uint32_t)simulation->step_ns);
        /* Between two atomic operations a message may be on its way into a lane, and a sender may
         * have read the limit before it was lowered. */
        if (!STEPPED)
            walk_step(&simulation->walk, !fibers_hold_locks(simulation->fibers));
    }
}

/* True, too, when only the world's timers go on: the agents that are left wait for the calm. */
static bool agents_are_through(struct simulation *simulation)
{
    return simulation->agents_left == 0 || simulation->now_ns - simulation->acted_ns > QUIET_NS;
}

static bool never(struct simulation *simulation)
{
    (void)simulation;
    return false;
}

/* --- one seed ------------------------------------------------------------------------------- */

static void add_agent(struct simulation *simulation, enum agent_kind kind, uint32_t index,
                      uint32_t weight)
{
    struct agent *agent = &simulation->agents[simulation->agent_count++];

    agent_init(agent, &simulation->world, kind, index);
    fibers_add(simulation->fibers, run_agent, agent, weight);
    simulation->agents_left++;
}

/* Seeds differ: busy senders or busy workers; calm at mutexes or not. */
static void add_all(struct simulation *simulation)
{
    uint32_t senders = 1 + fibers_draw(simulation->fibers, 8);
    uint32_t trouble = 1 + fibers_draw(simulation->fibers, 4);
    uint32_t executors = 1 + fibers_draw(simulation->fibers, 16);

    for (uint32_t i = 0; i < WORLD_DISPATCHERS; i++) {
        struct dispatcher *dispatcher = simulation->world.dispatchers[i];

        for (uint32_t j = 0; j < dispatcher_slot_count(dispatcher); j++)
            fibers_add(simulation->fibers, fiber_executor, dispatcher_executor(dispatcher, j),
                       executors);
    }
    for (uint32_t i = 0; i < WORLD_SENDERS; i++)
        add_agent(simulation, AGENT_SENDER, i, senders);
    for (int kind = AGENT_SENDER + 1; kind < AGENT_REQUESTER; kind++)
        add_agent(simulation, (enum agent_kind)kind, 0, trouble);
    for (uint32_t i = 0; i < WORLD_REQUESTERS; i++)
        add_agent(simulation, AGENT_REQUESTER, i, senders);
    for (uint32_t i = 0; i < WORLD_TAKERS; i++)
        add_agent(simulation, AGENT_TAKER, i, senders);
}

static void begin(struct simulation *simulation, uint64_t seed, uint32_t acts)
{
    static const uint32_t preempts[] = { 0, 200, 40, 10, 3 };
    static const uint32_t steps_between[] = { 1000, 200, 50, 10 };
    struct world_options options = {
        .seed = seed,
        .messages = (uint64_t)acts * WORLD_SENDERS * MESSAGES_PER_ACT,
        .clock = { now_ns, simulation },
        .step_aside = step_aside,
        .wait = wait_a_little,
        .note = note,
        .short_ms = 0, /* it would use the machine's clock */
        .context = simulation,
    };

    *simulation = (struct simulation){ .acts = acts,
                                       .now_ns = START_NS + seed,
                                       .acted_ns = START_NS + seed };
    simulation->fibers = fibers_create(seed, preempts[seed % 5]);
    if (STEPPED)
        fibers_preempt_steps(simulation->fibers, steps_between[seed % 4]);
    simulation->step_ns = 1 + fibers_draw(simulation->fibers, 3) * 20000;
    world_init(&simulation->world, &options);
    walk_init(&simulation->walk, &simulation->world);
    add_all(simulation);
}

static void finish(struct simulation *simulation, struct totals *totals)
{
    struct world *world = &simulation->world;

    for (uint32_t i = 0; i < WORLD_DISPATCHERS; i++)
        totals->steals += dispatcher_steals(world->dispatchers[i]);
    for (int i = 0; i < DEAD_REASONS; i++)
        totals->dead += atomic_load(&world->dead_by_reason[i]);
    totals->steps += simulation->steps;
    totals->messages += atomic_load(&world->issued);
    totals->replies += atomic_load(&world->answers[WORLD_REPLIED]);
    totals->leases += atomic_load(&world->leases);
    totals->refused += atomic_load(&world->refused);
    totals->changes += atomic_load(&world->changes);
    totals->restarts += world->restarts;
    world_finish(world);
    fibers_destroy(simulation->fibers);
}

/* False: a check failed; everything is left as it is. */
static bool simulate(uint64_t seed, uint32_t acts, struct totals *totals, uint64_t *out_trace)
{
    static struct simulation simulation;
    struct world *world = &simulation.world;

    begin(&simulation, seed, acts);
    go_on_until(&simulation, agents_are_through);
    if (atomic_load(&world->wrong) == 0) {
        /* An agent may wait for an event that comes only then. */
        fibers_add(simulation.fibers, run_the_calm, &simulation, 1);
        fibers_rouse(simulation.fibers);
        go_on_until(&simulation, never);
        world_expect(world, simulation.calmed, "nobody calms it", seed);
        world_expect(world, simulation.agents_left == 0, "agents that nobody wakes",
                     simulation.agents_left);
        world_expect(world, world_has_drained(world), "what could go on does not", seed);
    }
    if (atomic_load(&world->wrong) == 0) {
        fibers_add(simulation.fibers, run_the_end, &simulation, 1);
        go_on_until(&simulation, never);
        world_expect(world, simulation.closed, "what was closed does not end", seed);
    }
    if (atomic_load(&world->wrong) == 0)
        world_examine(world);
    if (atomic_load(&world->wrong) > 0) {
        (void)fprintf(stderr, "seed %" PRIu64 ", after %" PRIu64 " steps\n", seed,
                      simulation.steps);
        walk_print(&simulation.walk);
        return false;
    }
    *out_trace = fibers_trace(simulation.fibers);
    finish(&simulation, totals);
    return true;
}

struct wish {
    uint64_t first;
    uint64_t seeds;
    uint64_t acts;
};

static void read_arguments(struct wish *wish, int count, char **arguments)
{
    for (int i = 1; i + 1 < count; i += 2) {
        uint64_t value = strtoull(arguments[i + 1], NULL, 10);

        if (strcmp(arguments[i], "--seed") == 0)
            wish->first = value;
        else if (strcmp(arguments[i], "--seeds") == 0)
            wish->seeds = value;
        else if (strcmp(arguments[i], "--acts") == 0)
            wish->acts = value;
    }
}

/* Each seed once, and the first one again. */
static bool simulate_all(const struct wish *wish, struct totals *totals, uint64_t *out_trace)
{
    struct totals ignored = { 0 };
    uint64_t first = 0, again, trace;

    for (uint64_t seed = wish->first; seed < wish->first + wish->seeds; seed++) {
        if (!simulate(seed, (uint32_t)wish->acts, totals, &trace))
            return false;
        if (seed == wish->first)
            first = trace;
        *out_trace = *out_trace * 31 + trace;
    }
    if (!simulate(wish->first, (uint32_t)wish->acts, &ignored, &again))
        return false;
    if (again != first)
        (void)fprintf(stderr, "wrong: seed %" PRIu64 " gives %016" PRIx64 ", then %016" PRIx64 "\n",
                      wish->first, first, again);
    return again == first;
}

int main(int count, char **arguments)
{
    struct wish wish = { .first = 1, .seeds = 200, .acts = 12 };
    struct totals totals = { 0 };
    uint64_t trace = 0;

    read_arguments(&wish, count, arguments);
    (void)printf("seeds %" PRIu64 "..%" PRIu64 ", acts %" PRIu64 "\n", wish.first,
                 wish.first + wish.seeds - 1, wish.acts);
    (void)fflush(stdout);
    if (!simulate_all(&wish, &totals, &trace))
        return 1;
    (void)printf("steps %" PRIu64 ", messages %" PRIu64 ", refused %" PRIu64 ", dead %" PRIu64
                 ", steals %" PRIu64 ", changes %" PRIu64 ", restarts %" PRIu64 ", replies %" PRIu64
                 ", leases %" PRIu64 ", trace %016" PRIx64 "\n",
                 totals.steps, totals.messages, totals.refused, totals.dead, totals.steals,
                 totals.changes, totals.restarts, totals.replies, totals.leases, trace);
    /* A storm without refusals and steals is none. */
    return totals.refused > 0 && totals.steals > 0 && totals.dead > 0 && totals.changes > 0 &&
                   totals.replies > 0 && totals.leases > 0
               ? 0
               : 1;
}
