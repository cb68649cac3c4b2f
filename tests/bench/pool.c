/* Four senders and a pool of eight workers with bounded mailboxes: pool0, pool1us. */
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define SENDERS 4
#define WORKERS 8
#define LIMIT 64
#define BURST 32
#define LOOK_MS 10
#define LEVELS 5        /* of nested pools, the workers' one among them */
#define NESTED_ROUNDS 3 /* with and without */
#define GROWTH_MAX (1024 * 1024)

struct sender_settings {
    weir_pid pool;
    uint64_t count;
};

struct sender_state {
    const struct sender_settings *settings;
    uint64_t left;
};

struct worker_state {
    uint64_t steps;
    uint64_t noise;
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct worker_state *)state)->steps = *(const uint64_t *)settings;
    return 0;
}

static int work(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker_state *worker = state;
    uint64_t x = worker->noise + bench_number(message);

    (void)self;
    for (uint64_t i = 0; i < worker->steps; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    worker->noise = x;
    return WEIR_DONE;
}

static const struct weir_behaviour worker = {
    .name = "work", .open = open_worker, .handle = work, .state_size = sizeof(struct worker_state)
};

static int open_sender(struct weir_self *self, const void *settings, void *state)
{
    struct sender_state *sender = state;

    (void)self;
    sender->settings = settings;
    sender->left = sender->settings->count;
    return 0;
}

/* What is refused is sent again in the next turn: nothing is dropped. */
static int send_burst(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct sender_state *sender = state;

    for (uint32_t i = 0; i < BURST && sender->left > 0; i++, sender->left--)
        if (!bench_pass(self, sender->settings->pool, sender->left))
            break;
    if (sender->left == 0)
        bench_finish(bench_of(self));
    else if (!bench_pass(self, weir_pid_of(self), bench_number(message)))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour sender = { .name = "send",
                                              .open = open_sender,
                                              .handle = send_burst,
                                              .state_size = sizeof(struct sender_state) };

static bool never(void *context)
{
    (void)context;
    return false;
}

/* Waits until so many messages have been handled. */
static void wait_for_done(struct bench *bench, struct pool *pool, uint64_t count)
{
    struct ledger_reading ledger;

    for (pool_ledger(pool, &ledger); ledger.done < count; pool_ledger(pool, &ledger))
        (void)runtime_wait(bench->runtime, never, NULL, LOOK_MS);
}

/* How much the memory of the process grows between the first tenth of the messages and the last. */
static double watch_growth(struct bench *bench, struct pool *pool, uint64_t messages)
{
    uint64_t before, after;

    wait_for_done(bench, pool, messages / 10);
    before = bench_resident_bytes();
    wait_for_done(bench, pool, messages - messages / 10);
    after = bench_resident_bytes();
    return after > before ? (double)(after - before) : 0;
}

/* The pools that stand around the workers' one, from the outermost on; and that one. */
static void make_pools(struct bench *bench, struct pool_options *options, struct pool **pools,
                       uint32_t levels)
{
    struct spec *spec = options->spec;
    uint32_t size = options->size;

    for (uint32_t i = 0; i < levels; i++) {
        bool is_last = i + 1 == levels;

        options->path = "bench/bench/bench/bench/bench" + 6 * (LEVELS - 1 - i);
        options->parent = i ? pools[i - 1] : NULL;
        options->spec = is_last ? spec : NULL;
        options->size = is_last ? size : 0;
        pools[i] = bench_make_pool(bench, options);
    }
}

/* From the innermost on: what it did stays with the one around it. */
static bool end_pools(struct bench *bench, struct pool *const *pools, uint32_t levels,
                      uint64_t expected)
{
    bool ok = true;

    while (levels-- > 0)
        ok &= bench_end_pool(bench, pools[levels], expected);
    return ok;
}

static struct bench_result run_levels(struct bench *bench, uint64_t each, uint64_t steps,
                                      uint32_t levels, uint32_t limit)
{
    struct spec *spec = spec_create(&worker, &steps);
    struct pool_options options = { .path = "bench",
                                    .dispatcher = bench->dispatcher,
                                    .spec = spec,
                                    .size = WORKERS,
                                    .limit = limit };
    struct sender_settings settings = { .count = each };
    struct pool *pools[LEVELS];
    struct bench_result result = { .messages = each * SENDERS };
    struct actor *senders[SENDERS];
    uint64_t start;

    make_pools(bench, &options, pools, levels);
    settings.pool = pools[0]->pid;
    for (uint32_t i = 0; i < SENDERS; i++)
        senders[i] = bench_spawn(bench, &sender, &settings, NULL);
    atomic_store(&bench->running, SENDERS);
    start = bench_now_ns();
    for (uint32_t i = 0; i < SENDERS; i++)
        bench_send(bench, actor_pid(senders[i]), 0);
    result.figure = watch_growth(bench, pools[levels - 1], result.messages);
    bench_wait(bench);
    /* The time counts until the last message is done. */
    result.ok = end_pools(bench, pools, levels, result.messages);
    result.ns = bench_now_ns() - start;
    bench_end(bench, senders, SENDERS);
    spec_unref(spec);
    return result;
}

static struct bench_result run_pool(struct bench *bench, uint64_t each, uint64_t steps)
{
    return run_levels(bench, each, steps, 1, LIMIT);
}

/* Of all threads together: others on the machine do not count. */
static uint64_t spent_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

/*
 * What each further level around a pool costs a message, in time on the CPUs: the best of some
 * rounds, in turn, without others and with four. Without limits: what is refused is tried again,
 * and would count as well.
 */
static struct bench_result run_nested(struct bench *bench)
{
    uint64_t each = bench_scaled(bench, 1000000), best[2] = { UINT64_MAX, UINT64_MAX };
    struct bench_result result = { .messages = each * SENDERS, .ok = true };

    for (uint32_t i = 0; i < 2 * NESTED_ROUNDS; i++) {
        uint64_t start = spent_ns(), spent;

        result.ok &= run_levels(bench, each, 0, i % 2 ? LEVELS : 1, 0).ok;
        spent = spent_ns() - start;
        if (spent < best[i % 2])
            best[i % 2] = spent;
    }
    result.figure = ((double)best[1] - (double)best[0]) / (double)result.messages / (LEVELS - 1);
    return result;
}

static struct bench_result run_pool0(struct bench *bench)
{
    return run_pool(bench, bench_scaled(bench, 1000000), 0);
}

static struct bench_result run_pool1us(struct bench *bench)
{
    return run_pool(bench, bench_scaled(bench, 250000), BENCH_WORK_STEPS);
}

/* A tenth of a billion messages: what grows with their number is seen. On fewer, and where other
 * tools keep memory back, the figure means nothing and is not judged. */
static struct bench_result run_flat(struct bench *bench)
{
    struct bench_result result = run_pool(bench, bench_scaled(bench, 25000000), 0);

    if (bench->divisor == 1)
        result.ok &= result.figure <= GROWTH_MAX;
    return result;
}

const struct bench_row bench_pool_rows[] = {
    { "pool0", 15, 20, run_pool0, false, BENCH_FLOOR_MANY },
    { "pool1us", 995, 505, run_pool1us, false, BENCH_FLOOR_NONE },
    { "flat", GROWTH_MAX, GROWTH_MAX, run_flat, true, BENCH_FLOOR_NONE },
    { "nested", 3, 3, run_nested, true, BENCH_FLOOR_NONE },
    { 0 },
};
