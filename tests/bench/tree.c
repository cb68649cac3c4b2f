/* SPDX-License-Identifier: MIT */
/* Actors come and go: fjcreate, skynet; what one costs that sleeps: idle, worker. */
#include <stdlib.h>

#include "actor/spawn.h"
#include "bench.h"

#define FANOUT 10
#define IDLE_BYTES_MAX 384     /* six lines, of which an actor has five */
#define IDLE_COUNT_MIN 1000000 /* of so many the bytes are judged */
#define WORKER_BYTES_MAX 1152  /* 18 lines: an actor has five, its place the rest */
#define WORKER_COUNT_MIN 60000

/* --- fjcreate: spawn, one message, end ------------------------------------------------------ */

static int handle_once(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct bench *bench = bench_of(self);

    (void)state;
    atomic_fetch_add_explicit(&bench->sum, bench_number(message), memory_order_relaxed);
    bench_finish(bench);
    return WEIR_STOP;
}

static const struct weir_behaviour once = { .name = "once", .handle = handle_once };

struct creator_state {
    uint64_t left;
    struct spec *spec;
};

static int open_creator(struct weir_self *self, const void *settings, void *state)
{
    struct creator_state *creator = state;

    (void)self;
    (void)settings;
    creator->spec = spec_create(&once, NULL);
    return creator->spec ? 0 : WEIR_ENOMEM;
}

static void close_creator(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    spec_unref(((struct creator_state *)state)->spec);
}

/* A child is not open before its first turn: its message waits in the creator's next one. */
static int create_some(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct creator_state *creator = state;
    uint64_t left = bench_number(message);

    for (uint32_t i = 0; i < 16 && left > 0; i++, left--) {
        struct actor *child = bench_spawn_here(self, creator->spec);

        mailbox_open(&child->mailbox);
        if (!bench_pass(self, actor_pid(child), 1))
            abort();
    }
    if (left > 0 && !bench_pass(self, weir_pid_of(self), left))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour creator = { .name = "create",
                                               .open = open_creator,
                                               .handle = create_some,
                                               .close = close_creator,
                                               .state_size = sizeof(struct creator_state) };

static struct bench_result run_fjcreate(struct bench *bench)
{
    uint64_t count = bench->row.each;
    struct bench_result result = { .messages = count };
    struct actor *actor = bench_spawn(bench, &creator, NULL, NULL);
    uint64_t start = row_now_ns();

    atomic_store(&bench->sum, 0);
    atomic_store(&bench->running, (uint32_t)count);
    bench_send(bench, actor_pid(actor), count);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    result.ok = atomic_load(&bench->sum) == count;
    bench_end(bench, &actor, 1);
    return result;
}

/* --- skynet: a tree of ten children each, whose leaves' numbers are added up ---------------- */

struct skynet_state {
    weir_pid parent;
    uint64_t sum;
    uint32_t left;
};

#define SKYNET_DIVISOR_BITS 32 /* a message holds {size of the subtree, its first number} */

static int handle_skynet(struct weir_self *self, void *state, const struct weir_message *message);

static const struct weir_behaviour skynet = { .name = "skynet",
                                              .handle = handle_skynet,
                                              .state_size = sizeof(struct skynet_state) };

static int report(struct weir_self *self, const struct skynet_state *node)
{
    if (node->parent) {
        if (!bench_pass(self, node->parent, node->sum))
            abort();
    } else {
        atomic_store(&bench_of(self)->sum, node->sum);
        bench_finish(bench_of(self));
    }
    return WEIR_STOP;
}

static void grow(struct weir_self *self, struct skynet_state *node, uint64_t size, uint64_t first)
{
    struct spec *spec = actor_of_self(self)->spec;

    node->left = FANOUT;
    for (uint64_t i = 0; i < FANOUT; i++) {
        struct actor *child = bench_spawn_here(self, spec);
        uint64_t number = first + i * (size / FANOUT);

        mailbox_open(&child->mailbox);
        if (!bench_pass(self, actor_pid(child), (size / FANOUT) << SKYNET_DIVISOR_BITS | number))
            abort();
    }
}

static int handle_skynet(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct skynet_state *node = state;
    uint64_t number = bench_number(message);

    if (node->left > 0) {
        node->sum += number;
        return --node->left == 0 ? report(self, node) : WEIR_DONE;
    }
    node->parent = message->from;
    if (number >> SKYNET_DIVISOR_BITS == 1) {
        node->sum = number & UINT32_MAX;
        return report(self, node);
    }
    grow(self, node, number >> SKYNET_DIVISOR_BITS, number & UINT32_MAX);
    return WEIR_DONE;
}

/* The largest power of ten that is not more. */
static uint64_t leaves_of(uint64_t count)
{
    uint64_t leaves = 1;

    while (leaves * FANOUT <= count)
        leaves *= FANOUT;
    return leaves;
}

static struct bench_result run_skynet(struct bench *bench)
{
    uint64_t leaves = leaves_of(bench->row.each);
    struct bench_result result = { .messages = leaves + leaves / 10 };
    struct actor *root = bench_spawn(bench, &skynet, NULL, NULL);
    uint64_t start = row_now_ns();

    atomic_store(&bench->running, 1);
    bench_send(bench, actor_pid(root), leaves << SKYNET_DIVISOR_BITS);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    result.ok = atomic_load(&bench->sum) == leaves * (leaves - 1) / 2;
    return result;
}

/* --- idle: what an actor that sleeps costs -------------------------------------------------- */

static int open_idle(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    bench_finish(bench_of(self));
    return 0;
}

static int never(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour idler = { .name = "idle", .open = open_idle, .handle = never };

static struct bench_result run_idle(struct bench *bench)
{
    uint64_t count = bench->row.each;
    struct bench_result result = { .messages = count, .ok = true, .has_figure = true };
    struct executor *executor = runtime_enter(bench->runtime);
    struct spec *spec = spec_create(&idler, NULL);
    uint64_t before = bench_resident_bytes(), start = row_now_ns();

    atomic_store(&bench->running, (uint32_t)count);
    for (uint64_t i = 0; i < count; i++) {
        struct actor_options options = { .dispatcher = bench->dispatcher,
                                         .spec = spec,
                                         .kind = ACTOR_WORKER };
        struct actor *actor;

        if (actor_spawn(bench->runtime, executor, &options, &actor) != 0)
            abort();
    }
    runtime_leave(executor);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    result.figure = (double)(bench_resident_bytes() - before) / (double)count;
    /* On fewer, and where other tools keep memory back, the figure means nothing. */
    if (count >= IDLE_COUNT_MIN)
        result.ok = result.figure <= IDLE_BYTES_MAX;
    spec_unref(spec);
    return result;
}

/* The same of a pool's worker, which has a place in its pool. */
static struct bench_result run_worker(struct bench *bench)
{
    uint64_t count = bench->row.each;
    struct bench_result result = { .messages = count, .ok = true, .has_figure = true };
    struct spec *spec = spec_create(&idler, NULL);
    struct pool_options options = {
        .path = "bench", .dispatcher = bench->dispatcher, .spec = spec, .size = (uint32_t)count
    };
    uint64_t before = bench_resident_bytes(), start = row_now_ns();
    struct pool *pool;

    atomic_store(&bench->running, (uint32_t)count);
    pool = bench_make_pool(bench, &options);
    result.ns = row_now_ns() - start;
    result.figure = (double)(bench_resident_bytes() - before) / (double)count;
    result.ok = bench_end_pool(bench, pool, 0);
    if (count >= WORKER_COUNT_MIN)
        result.ok &= result.figure <= WORKER_BYTES_MAX;
    spec_unref(spec);
    return result;
}

const struct bench_row bench_tree_rows[] = {
    { "fjcreate", run_fjcreate },
    { "skynet", run_skynet },
    { "idle", run_idle },
    { "worker", run_worker },
    { 0 },
};
