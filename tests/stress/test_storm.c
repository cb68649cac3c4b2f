/* SPDX-License-Identifier: MIT */
/*
 * Goal: under everything at once, by threads, nothing is lost and nothing is done twice.
 *
 * Method: the world of world.h on the machine's clock and real threads: senders that are never
 * idle, pools that scale themselves; one thread each that resizes, pauses, changes limits, kills,
 * re-routes, reloads, replaces the guest and takes dead letters; two that ask and wait for the
 * answers; and one that changes the number of threads of the dispatchers. It goes on until the
 * messages are used up and it was a storm, or, with --seconds, for so long. Then it is calmed,
 * must drain, is closed, and every message is accounted for by its number. What happens when
 * depends on the machine; the decisions depend on the seed.
 *
 *      test_storm [--seed N] [--messages N] [--seconds N]
 *
 * promises S1, S2, L1, A1, A2, D2, P4, P7, P8, O1, E8 and Z1
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "storm/world.h"
#include "unit/support/wait_limit.h"

#define AGENTS_MAX (WORLD_SENDERS + AGENT_KINDS + WORLD_REQUESTERS + WORLD_TAKERS)
#define MESSAGES_MAX 100000000u /* a gigabyte of addresses, of which few are used */
#define PROGRESS_S 5u
#define CHANGES_MIN 10u
#define RESTS_OF_TROUBLE 200u /* turns for others between two acts of trouble */

struct storm {
    struct world world;
    uint64_t messages; /* at least so many: see was_a_storm */
    uint64_t seconds;  /* 0: until the messages are used up */
    uint64_t scaled;   /* resizes of pools by themselves, read before the pools end */
    uint64_t began_s;
    struct agent agents[AGENTS_MAX];
    pthread_t threads[AGENTS_MAX + 1];
    pthread_t progress_thread;
    uint32_t count;
};

static uint64_t now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

static void step_aside(void *context)
{
    (void)context;
}

static void give_way(void *context)
{
    (void)context;
    (void)sched_yield();
}

static uint64_t steals_of(struct world *world)
{
    uint64_t steals = 0;

    for (uint32_t i = 0; i < WORLD_DISPATCHERS; i++)
        steals += dispatcher_steals(world->dispatchers[i]);
    return steals;
}

static uint64_t scaled_by_themselves(const struct world *world)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < HALLS; i++)
        sum += pool_resizes(world->halls[i].pool, RESIZE_BY_SCALE);
    return sum;
}

/* On a busy machine one thread may have sent all messages before another has had its turn: then it
 * goes on until the storm was one. */
static bool was_a_storm(struct storm *storm)
{
    struct world *world = &storm->world;

    return atomic_load(&world->refused) > 0 && atomic_load(&world->changes) >= CHANGES_MIN &&
           atomic_load(&world->answers[WORLD_REPLIED]) > 0 && steals_of(world) > 0 &&
           scaled_by_themselves(world) >= CHANGES_MIN;
}

static bool is_over(struct storm *storm)
{
    uint64_t issued = atomic_load(&storm->world.issued);

    if (issued >= storm->world.options.messages)
        return true;
    if (storm->seconds)
        return now_s() - storm->began_s >= storm->seconds;
    return issued >= storm->messages && was_a_storm(storm);
}

/* --- threads -------------------------------------------------------------------------------- */

static void *run_agent(void *argument)
{
    struct agent *agent = argument;
    struct storm *storm = agent->world->options.context;

    while (!is_over(storm)) {
        agent_act(agent);
        for (uint32_t i = 0; i < (agent->kind == AGENT_SENDER ? 1 : RESTS_OF_TROUBLE); i++)
            (void)sched_yield();
    }
    return NULL;
}

static void *resize_dispatchers(void *argument)
{
    struct storm *storm = argument;

    for (uint64_t turn = 0; !is_over(storm); turn++) {
        struct dispatcher *dispatcher = storm->world.dispatchers[turn % WORLD_DISPATCHERS];

        if (dispatcher_resize(dispatcher, 1 + (uint32_t)world_dice(&storm->world, turn, 3) % 4) !=
            0)
            abort();
        for (uint32_t i = 0; i < 10 * RESTS_OF_TROUBLE; i++)
            (void)sched_yield();
    }
    return NULL;
}

static void print_progress(struct storm *storm)
{
    struct world *world = &storm->world;
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%3" PRIu64 " s: messages %" PRIu64 ", refused %" PRIu64 ", steals %" PRIu64
                 ", changes %" PRIu64 ", resident at most %ld MiB\n",
                 now_s() - storm->began_s, atomic_load(&world->issued),
                 atomic_load(&world->refused), steals_of(world), atomic_load(&world->changes),
                 usage.ru_maxrss / 1024);
    (void)fflush(stdout);
}

/* Ends a storm by the clock, for its waiters. */
static void *report_progress(void *argument)
{
    struct storm *storm = argument;
    uint64_t printed_s = now_s();

    while (storm->seconds && !is_over(storm)) {
        struct timespec until = { .tv_sec = (time_t)++printed_s };

        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if ((printed_s - storm->began_s) % PROGRESS_S == 0)
            print_progress(storm);
    }
    return NULL;
}

static void start(struct storm *storm, enum agent_kind kind, uint32_t index)
{
    struct agent *agent = &storm->agents[storm->count];

    agent_init(agent, &storm->world, kind, index);
    if (pthread_create(&storm->threads[storm->count++], NULL, run_agent, agent) != 0)
        abort();
}

static void run(struct storm *storm)
{
    uint32_t others;

    storm->began_s = now_s();
    for (uint32_t i = 0; i < WORLD_SENDERS; i++)
        start(storm, AGENT_SENDER, i);
    for (int kind = AGENT_SENDER + 1; kind < AGENT_REQUESTER; kind++)
        start(storm, (enum agent_kind)kind, 0);
    others = storm->count;
    for (uint32_t i = 0; i < WORLD_REQUESTERS; i++)
        start(storm, AGENT_REQUESTER, i);
    for (uint32_t i = 0; i < WORLD_TAKERS; i++)
        start(storm, AGENT_TAKER, i);
    if (pthread_create(&storm->threads[storm->count], NULL, resize_dispatchers, storm) != 0 ||
        pthread_create(&storm->progress_thread, NULL, report_progress, storm) != 0)
        abort();
    for (uint32_t i = 0; i < WORLD_SENDERS; i++)
        pthread_join(storm->threads[i], NULL);
    world_calm(&storm->world); /* a waiter for a pool's end may wait for a paused one */
    for (uint32_t i = WORLD_SENDERS; i < others; i++)
        pthread_join(storm->threads[i], NULL);
    pthread_join(storm->threads[storm->count], NULL);
    pthread_join(storm->progress_thread, NULL);
    world_calm(&storm->world); /* a thread may have been pausing a pool meanwhile */
    for (uint32_t i = others; i < storm->count; i++)
        pthread_join(storm->threads[i], NULL);
}

/* --- the end -------------------------------------------------------------------------------- */

static bool has_drained(void *context)
{
    return world_has_drained(context);
}

/* Looks repeatedly: a ledger changes without a wake-up. */
static void expect_drained(struct storm *storm)
{
    bool drained = false;

    for (uint32_t i = 0; i < wait_limit_ms() && !drained; i++)
        drained = runtime_wait(storm->world.runtime, has_drained, &storm->world, 1);
    world_expect(&storm->world, drained, "what could go on does not", 0);
}

static void print_figures(struct storm *storm)
{
    struct world *world = &storm->world;
    uint64_t steals = steals_of(world), dead = 0;

    for (int i = 0; i < DEAD_REASONS; i++)
        dead += atomic_load(&world->dead_by_reason[i]);
    world_expect(world, atomic_load(&world->refused) > 0, "nobody was refused", 0);
    world_expect(world, steals > 0, "nothing was stolen", 0);
    world_expect(world, storm->scaled > 0, "no pool has scaled itself", 0);
    (void)printf("asked from outside %" PRIu64 ": replies %" PRIu64 ", reasons %" PRIu64
                 ", time-outs %" PRIu64 ", given up %" PRIu64 "\n",
                 atomic_load(&world->asked), atomic_load(&world->answers[WORLD_REPLIED]),
                 atomic_load(&world->answers[WORLD_FAILED]),
                 atomic_load(&world->answers[WORLD_TIMED_OUT]),
                 atomic_load(&world->answers[WORLD_CANCELLED]));
    (void)printf("messages %" PRIu64 ", refused %" PRIu64 ", dead %" PRIu64 ", steals %" PRIu64
                 ", changes %" PRIu64 ", by the pools themselves %" PRIu64
                 ", guests %u, opened %" PRIu64 ", restarts %" PRIu64 "\n",
                 atomic_load(&world->issued), atomic_load(&world->refused), dead, steals,
                 atomic_load(&world->changes), storm->scaled, world->guests,
                 atomic_load(&world->opened), world->restarts);
}

static void read_arguments(struct storm *storm, struct world_options *options, int count,
                           char **arguments)
{
    for (int i = 1; i + 1 < count; i += 2) {
        uint64_t value = strtoull(arguments[i + 1], NULL, 10);

        if (strcmp(arguments[i], "--seed") == 0)
            options->seed = value;
        else if (strcmp(arguments[i], "--messages") == 0)
            storm->messages = value;
        else if (strcmp(arguments[i], "--seconds") == 0)
            storm->seconds = value;
    }
}

int main(int count, char **arguments)
{
    static struct storm storm = { .messages = 200000 };
    struct world *world = &storm.world;
    struct world_options options = { .seed = (uint64_t)time(NULL),
                                     .elastic = true,
                                     .rates = true,
                                     .messages = MESSAGES_MAX,
                                     .clock = clock_monotonic(),
                                     .step_aside = step_aside,
                                     .wait = give_way,
                                     .short_ms = 1,
                                     .blocks = true,
                                     .context = &storm };

    read_arguments(&storm, &options, count, arguments);
    (void)printf("seed %" PRIu64 ", messages %" PRIu64 ", seconds %" PRIu64 "\n", options.seed,
                 storm.messages, storm.seconds);
    (void)fflush(stdout);
    world_init(world, &options);
    if (runtime_start(world->runtime) != 0)
        abort();
    run(&storm);
    expect_drained(&storm);
    if (atomic_load(&world->wrong) > 0)
        return 1;
    storm.scaled = scaled_by_themselves(world);
    world_close(world);
    world_examine(world);
    print_figures(&storm);
    if (atomic_load(&world->wrong) > 0)
        return 1;
    world_finish(world);
    return 0;
}
