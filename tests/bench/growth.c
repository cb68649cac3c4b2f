/* SPDX-License-Identifier: MIT */
/*
 * What costs more when there is more of it: `kept` and `keptorder`, kept messages that their worker
 * settles in any order and in the order in which they came; `grow`, workers that a pool gets one by
 * one.
 */
#include <stdlib.h>
#include <time.h>

#include "bench.h"

/* Of one round; the settings of the worker. */
struct keeping {
    uint32_t count; /* kept before the first is settled */
    bool in_order;
    uint32_t rounds;
    uint64_t ns; /* of the settling alone, in every second round */
};

struct keeper {
    struct keeping *keeping;
    struct weir_message **kept;
    uint32_t count;
};

static int open_keeper(struct weir_self *self, const void *settings, void *state)
{
    struct keeper *keeper = state;

    (void)self;
    keeper->keeping = *(struct keeping *const *)settings;
    keeper->kept = calloc(keeper->keeping->count, sizeof(struct weir_message *));
    return keeper->kept ? 0 : WEIR_ENOMEM;
}

static void close_keeper(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    free(((struct keeper *)state)->kept);
}

/* Of this thread: others on the machine do not count. */
static uint64_t spent_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

/* The order of each round is another. */
static void shuffle(struct weir_message **kept, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = (uint32_t)(row_random(&seed) % (i + 1));
        struct weir_message *moved = kept[i];

        kept[i] = kept[other];
        kept[other] = moved;
    }
}

/*
 * The rounds between those that are measured are in any order for both rows: the memory of the
 * messages is then as scattered as it is for a worker that has run for a while.
 */
static void settle_all(struct weir_self *self, struct keeper *keeper)
{
    struct keeping *keeping = keeper->keeping;
    bool is_measured = keeping->rounds++ % 2 == 1;
    uint64_t start;

    if (!is_measured || !keeping->in_order)
        shuffle(keeper->kept, keeper->count, 0x9e3779b97f4a7c15ull + keeping->rounds);
    start = spent_ns();
    while (keeper->count > 0)
        if (weir_settle(self, keeper->kept[keeping->count - keeper->count--], WEIR_DONE) != 0)
            abort();
    if (is_measured)
        keeping->ns += spent_ns() - start;
    bench_finish(bench_of(self));
}

/* The message after the last that is kept settles all of them. */
static int keep(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct keeper *keeper = state;

    if (keeper->count == keeper->keeping->count) {
        settle_all(self, keeper);
        return WEIR_DONE;
    }
    keeper->kept[keeper->count++] = (struct weir_message *)(uintptr_t)message;
    return WEIR_KEEP;
}

static struct bench_result run_keeper(struct bench *bench, bool in_order)
{
    struct keeping keeping = { .count = bench->row.limit, .in_order = in_order };
    struct keeping *settings = &keeping;
    struct weir_behaviour behaviour = { .name = "keep",
                                        .open = open_keeper,
                                        .close = close_keeper,
                                        .handle = keep,
                                        .in_hand = keeping.count + 1,
                                        .state_size = sizeof(struct keeper) };
    struct spec *spec = spec_create(&behaviour, &settings);
    struct pool_options options = {
        .path = "bench", .dispatcher = bench->dispatcher, .spec = spec, .size = 1
    };
    struct bench_result result = { .messages = bench->row.each * keeping.count };
    struct pool *pool = bench_make_pool(bench, &options);

    for (uint64_t round = 0; round < 2 * bench->row.each; round++) {
        atomic_store(&bench->running, 1);
        for (uint32_t i = 0; i <= keeping.count; i++)
            bench_send(bench, pool->pid, i);
        bench_wait(bench);
    }
    result.ok = bench_end_pool(bench, pool, 2 * (result.messages + bench->row.each));
    result.ns = keeping.ns;
    spec_unref(spec);
    return result;
}

static struct bench_result run_kept(struct bench *bench)
{
    return run_keeper(bench, false);
}

static struct bench_result run_kept_in_order(struct bench *bench)
{
    return run_keeper(bench, true);
}

/* --- growth ---------------------------------------------------------------------------------- */

#define HUNDRED 100u

static int open_grown(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    bench_finish(bench_of(self));
    return 0;
}

static int handle_none(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour grown = { .name = "grown",
                                             .open = open_grown,
                                             .handle = handle_none };

/* Adds a hundred workers, one by one; the time until the last one opens. */
static uint64_t add_hundred(struct bench *bench, struct pool *pool)
{
    struct executor *executor = runtime_enter(bench->runtime);
    uint64_t start = row_now_ns();

    atomic_store(&bench->running, HUNDRED);
    for (uint32_t i = 0; i < HUNDRED; i++)
        if (pool_add(pool, executor, 1, NULL) != 0)
            abort();
    runtime_leave(executor);
    bench_wait(bench);
    return row_now_ns() - start;
}

/* The ratio of the time of the last hundred workers to that of the first. */
static struct bench_result run_grow(struct bench *bench)
{
    uint32_t hundreds = bench->row.receivers / HUNDRED;
    struct bench_result result = { .messages = (uint64_t)hundreds * HUNDRED * bench->row.each,
                                   .ok = true,
                                   .has_figure = true };
    struct spec *spec = spec_create(&grown, NULL);
    struct pool_options options = { .path = "bench",
                                    .dispatcher = bench->dispatcher,
                                    .spec = spec };
    uint64_t first = 0;
    uint64_t last = 0;

    /* The first pool makes the memory that the others use again. */
    for (uint64_t round = 0; round <= bench->row.each; round++) {
        struct pool *pool = bench_make_pool(bench, &options);

        for (uint32_t i = 0; i < hundreds; i++) {
            uint64_t ns = add_hundred(bench, pool);

            first += round > 0 && i == 0 ? ns : 0;
            last += round > 0 && i + 1 == hundreds ? ns : 0;
        }
        result.ok &= bench_end_pool(bench, pool, 0);
    }
    result.figure = (double)last / (double)first;
    spec_unref(spec);
    return result;
}

const struct bench_row bench_growth_rows[] = {
    { "grow", run_grow },
    { "kept", run_kept },
    { "keptorder", run_kept_in_order },
    { 0 },
};
