/* SPDX-License-Identifier: MIT */
/*
 * Senders and one pool of workers with bounded mailboxes: pool0, pool1us. A sender that is refused
 * tries again in its next turn; in the rows of `wait` its output waits for room instead.
 */
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define SENDERS_MAX 64
#define BURST 32
#define LOOK_MS 10
#define LEVELS 8 /* of nested pools, the workers' one among them; the language has no more */
#define NESTED_ROUNDS 41 /* with and without */
#define GROWTH_MAX (1024 * 1024)
#define GROWTH_MESSAGES_MIN 100000000 /* of so many the growth is judged */

struct sender_settings {
    weir_pid pool; /* 0: by an output that waits */
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

    (void)self;
    worker->noise = row_work(worker->noise + bench_number(message), worker->steps);
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

/* False when it is to be tried again. */
static bool put_out(struct weir_self *self, const struct sender_state *sender)
{
    struct weir_message *message;

    if (sender->settings->pool)
        return bench_pass(self, sender->settings->pool, sender->left);
    message = weir_message_new(self, NULL, sizeof(uint64_t));
    *(uint64_t *)message->data = sender->left;
    if (weir_emit(self, 0, message) != 0)
        abort();
    return true;
}

/* What is refused is sent again in the next turn: nothing is dropped. */
static int send_burst(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct sender_state *sender = state;

    for (uint32_t i = 0; i < BURST && sender->left > 0; i++, sender->left--)
        if (!put_out(self, sender))
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

/* Of all threads together: others on the machine do not count. */
static uint64_t spent_ns(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

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

        options->path = "bench/bench/bench/bench/bench/bench/bench/bench" + 6 * (LEVELS - 1 - i);
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

/* How the senders reach the pools, and with what limit. */
struct way {
    uint32_t levels;
    uint32_t limit;
    bool waits;
    bool watches;    /* the memory; the end is then seen late */
    uint64_t *spent; /* of CPU time, without making and ending the pools; NULL: not asked for */
};

static void make_senders(struct bench *bench, struct sender_settings *settings,
                         struct wiring_slot *slot, struct actor **senders)
{
    for (uint32_t i = 0; i < bench->row.senders; i++)
        senders[i] = bench_spawn(bench, &sender, settings, settings->pool ? NULL : slot);
    atomic_store(&bench->running, bench->row.senders);
}

static struct bench_result run_way(struct bench *bench, const struct way *way)
{
    const struct row *row = &bench->row;
    struct spec *spec = spec_create(&worker, &row->steps);
    struct pool_options options = { .path = "bench",
                                    .dispatcher = bench->dispatcher,
                                    .spec = spec,
                                    .size = row->receivers,
                                    .settings.mailbox = way->limit };
    struct sender_settings settings = { .count = row->each };
    struct wiring *wiring = wiring_create(1);
    struct wiring_slot slot = { .wiring = wiring };
    struct pool *pools[LEVELS];
    struct bench_result result = { .messages = row->each * row->senders };
    struct actor *senders[SENDERS_MAX];
    uint64_t start;

    if (row->senders > SENDERS_MAX)
        abort();
    make_pools(bench, &options, pools, way->levels);
    wiring->bindings[0] = (struct binding){ pools[0]->pid, WEIR_FULL_WAIT };
    settings.pool = way->waits ? 0 : pools[0]->pid;
    make_senders(bench, &settings, &slot, senders);
    start = row_now_ns();
    if (way->spent)
        *way->spent = spent_ns();
    for (uint32_t i = 0; i < row->senders; i++)
        bench_send(bench, actor_pid(senders[i]), 0);
    if (way->watches)
        result.figure = watch_growth(bench, pools[way->levels - 1], result.messages);
    bench_wait(bench);
    if (way->spent) {
        wait_for_done(bench, pools[way->levels - 1], result.messages);
        *way->spent = spent_ns() - *way->spent;
    }
    if (way->waits) /* what waits behind an output goes with its sender */
        bench_end(bench, senders, row->senders);
    /* The time counts until the last message is done. */
    result.ok = end_pools(bench, pools, way->levels, result.messages);
    result.ns = row_now_ns() - start;
    if (!way->waits)
        bench_end(bench, senders, row->senders);
    wiring_destroy(wiring);
    spec_unref(spec);
    return result;
}

static struct bench_result run_pool(struct bench *bench)
{
    return run_way(bench, &(struct way){ .levels = 1, .limit = bench->row.limit });
}

static struct bench_result run_waiting(struct bench *bench)
{
    return run_way(bench, &(struct way){ .levels = 1, .limit = bench->row.limit, .waits = true });
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * What each further level around a pool costs a message, in time on the CPUs: the median of the
 * differences between runs without others and with seven, by turns. Without limits: refused
 * messages are sent again, and would count as well.
 */
static struct bench_result run_nested(struct bench *bench)
{
    double costs[NESTED_ROUNDS];
    struct bench_result result = { .messages = bench->row.each * bench->row.senders,
                                   .ok = true,
                                   .has_figure = true };

    for (uint32_t i = 0; i < NESTED_ROUNDS; i++) {
        uint64_t flat, deep;

        result.ok &= run_way(bench, &(struct way){ .levels = 1, .spent = &flat }).ok;
        result.ok &= run_way(bench, &(struct way){ .levels = LEVELS, .spent = &deep }).ok;
        costs[i] = (double)deep - (double)flat;
    }
    qsort(costs, NESTED_ROUNDS, sizeof costs[0], compare);
    result.figure = costs[NESTED_ROUNDS / 2] / (double)result.messages / (LEVELS - 1);
    return result;
}

/* What grows with the number of messages is seen. On few, and where other tools keep memory back,
 * the figure means nothing and is not judged. */
static struct bench_result run_flat(struct bench *bench)
{
    struct bench_result result = run_way(
        bench, &(struct way){ .levels = 1, .limit = bench->row.limit, .watches = true });

    result.has_figure = true;
    if (result.messages >= GROWTH_MESSAGES_MIN)
        result.ok &= result.figure <= GROWTH_MAX;
    return result;
}

const struct bench_row bench_pool_rows[] = {
    { "pool0", run_pool },
    { "pool0wait", run_waiting },
    { "pool1us", run_pool },
    { "pool1uswait", run_waiting },
    { "flat", run_flat },
    { "nested", run_nested },
    { 0 },
};
