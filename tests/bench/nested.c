/* SPDX-License-Identifier: MIT */
/*
 * What it costs to compare pools of pools: `leastwide`, `randomwide`, two pools of many workers;
 * `leastdeep`, `randomdeep`, four members at each of five levels. Each is the ratio of the time of
 * a message to that in one pool of as many workers, by the same route.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define BURST 32
#define LOOK_MS 10 /* a look takes little of that */
#define ROUNDS 5   /* of both, by turns; the first does not count */
#define DEPTH 5
#define FAN_OUT 4
#define POOLS_MAX 341 /* of five levels, four below each */

struct sender_settings {
    weir_pid pool;
    uint64_t count;
};

struct sender_state {
    const struct sender_settings *settings;
    uint64_t left;
};

static int open_sender(struct weir_self *self, const void *settings, void *state)
{
    struct sender_state *sender = state;

    (void)self;
    sender->settings = settings;
    sender->left = sender->settings->count;
    return 0;
}

static int send_burst(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct sender_state *sender = state;

    (void)message;
    for (uint32_t i = 0; i < BURST && sender->left > 0; i++, sender->left--)
        if (!bench_pass(self, sender->settings->pool, sender->left))
            abort();
    if (sender->left == 0)
        bench_finish(bench_of(self));
    else if (!bench_pass(self, weir_pid_of(self), 0))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour sender = { .name = "send",
                                              .open = open_sender,
                                              .handle = send_burst,
                                              .state_size = sizeof(struct sender_state) };

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour worker = { .name = "handle", .handle = handle };

/* Pools, each level below the one before; the last one's have the workers. */
struct tree {
    enum weir_route route;
    uint32_t levels;
    uint32_t fan_out;
    uint32_t workers; /* of each pool of the last level */
};

static uint32_t make_tree(struct bench *bench, const struct tree *tree, struct spec *spec,
                          struct pool **pools)
{
    uint32_t count = 0;
    uint32_t above = 0; /* the first pool of the level above */
    uint32_t width = 1;

    for (uint32_t level = 0; level < tree->levels; level++, width *= tree->fan_out) {
        bool is_last = level + 1 == tree->levels;
        uint32_t first = count;

        for (uint32_t i = 0; i < width; i++) {
            char path[PLACE_PATH_MAX];

            (void)snprintf(path, sizeof path, "bench%u", count);
            pools[count++] = bench_make_pool(
                bench,
                &(struct pool_options){ .path = path,
                                        .dispatcher = bench->dispatcher,
                                        .parent = level ? pools[above + i / tree->fan_out] : NULL,
                                        .spec = is_last ? spec : NULL,
                                        .size = is_last ? tree->workers : 0,
                                        .settings.route = tree->route });
        }
        above = first;
    }
    return count;
}

static bool is_over(void *context)
{
    return pool_has_ended(context);
}

/* The outermost pool closes those below it, and has their figures. */
static bool end_tree(struct bench *bench, struct pool *const *pools, uint32_t count,
                     uint64_t expected)
{
    struct executor *executor = runtime_enter(bench->runtime);
    struct ledger_reading ledger;

    pool_close(pools[0], executor);
    runtime_leave(executor);
    if (!runtime_wait(bench->runtime, is_over, pools[0], 60000))
        abort();
    pool_ledger(pools[0], &ledger);
    executor = runtime_enter(bench->runtime);
    while (count-- > 0)
        pool_destroy(pools[count], executor);
    runtime_leave(executor);
    return ledger.done == expected && ledger_reading_difference(&ledger) == 0;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void wait_for_done(struct bench *bench, struct pool *pool)
{
    struct ledger_reading ledger;

    for (pool_ledger(pool, &ledger); ledger.done < bench->row.each; pool_ledger(pool, &ledger))
        (void)runtime_wait(bench->runtime, never, NULL, LOOK_MS);
}

static uint64_t spent_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

/* The CPU time until all messages are handled. */
static double time_tree(struct bench *bench, const struct tree *tree, bool *ok)
{
    struct pool *pools[POOLS_MAX];
    struct spec *spec = spec_create(&worker, NULL);
    uint32_t count = make_tree(bench, tree, spec, pools);
    struct sender_settings settings = { pools[0]->pid, bench->row.each };
    struct actor *actor = bench_spawn(bench, &sender, &settings, NULL);
    uint64_t start = spent_ns();
    uint64_t end;

    atomic_store(&bench->running, 1);
    bench_send(bench, actor_pid(actor), 0);
    bench_wait(bench);
    wait_for_done(bench, pools[0]);
    end = spent_ns();
    bench_end(bench, &actor, 1);
    *ok &= end_tree(bench, pools, count, bench->row.each);
    spec_unref(spec);
    return (double)(end - start);
}

static struct bench_result compare(struct bench *bench, const struct tree *nested, uint32_t workers)
{
    const struct tree flat = { nested->route, 1, 1, workers };
    struct bench_result result = { .messages = bench->row.each, .ok = true, .has_figure = true };
    double of_nested = 0, of_flat = 0;

    for (uint32_t i = 0; i <= ROUNDS; i++) {
        double one = time_tree(bench, &flat, &result.ok);
        double other = time_tree(bench, nested, &result.ok);

        if (i == 0)
            continue;
        of_flat += one;
        of_nested += other;
    }
    result.figure = of_nested / of_flat;
    return result;
}

static struct bench_result run_wide(struct bench *bench, enum weir_route route)
{
    uint32_t each = bench->row.receivers / 2;

    return compare(bench, &(struct tree){ route, 2, 2, each }, 2 * each);
}

static struct bench_result run_deep(struct bench *bench, enum weir_route route)
{
    uint32_t workers = 1;

    for (uint32_t i = 0; i < DEPTH; i++)
        workers *= FAN_OUT;
    return compare(bench, &(struct tree){ route, DEPTH, FAN_OUT, FAN_OUT }, workers);
}

static struct bench_result run_least_wide(struct bench *bench)
{
    return run_wide(bench, WEIR_ROUTE_LEAST_LOADED);
}

static struct bench_result run_random_wide(struct bench *bench)
{
    return run_wide(bench, WEIR_ROUTE_RANDOM);
}

static struct bench_result run_least_deep(struct bench *bench)
{
    return run_deep(bench, WEIR_ROUTE_LEAST_LOADED);
}

static struct bench_result run_random_deep(struct bench *bench)
{
    return run_deep(bench, WEIR_ROUTE_RANDOM);
}

const struct bench_row bench_nested_rows[] = {
    { "leastwide", run_least_wide },
    { "randomwide", run_random_wide },
    { "leastdeep", run_least_deep },
    { "randomdeep", run_random_deep },
    { 0 },
};
