/* SPDX-License-Identifier: MIT */
/* One message at a time: pingpong, ring, request and reply. */
#include <stdlib.h>

#include "bench.h"

#define RING_ACTORS_MAX 1000
#define TIMEOUT_MS 5000

struct chain_state {
    weir_pid next;
    uint64_t left;
    uint64_t sum;
};

struct chain_settings {
    weir_pid next; /* 0 = back to the sender */
};

static int open_chain(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct chain_state *)state)->next = ((const struct chain_settings *)settings)->next;
    return 0;
}

/* Counts down and passes on. */
static int hop(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct chain_state *chain = state;
    uint64_t left = bench_number(message);

    if (left == 0)
        bench_finish(bench_of(self));
    else if (!bench_pass(self, chain->next ? chain->next : message->from, left - 1))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour hopper = {
    .name = "hop", .open = open_chain, .handle = hop, .state_size = sizeof(struct chain_state)
};

static struct bench_result time_chain(struct bench *bench, weir_pid first, uint64_t hops)
{
    struct bench_result result = { .messages = hops, .ok = true };
    uint64_t start = row_now_ns();

    atomic_store(&bench->running, 1);
    bench_send(bench, first, hops);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    return result;
}

static struct bench_result run_pingpong(struct bench *bench)
{
    struct chain_settings back = { 0 };
    struct actor *actors[2];
    struct chain_settings forth;
    struct bench_result result;

    actors[0] = bench_spawn(bench, &hopper, &back, NULL);
    forth.next = actor_pid(actors[0]);
    actors[1] = bench_spawn(bench, &hopper, &forth, NULL);
    result = time_chain(bench, actor_pid(actors[1]), 2 * bench->row.each);
    bench_end(bench, actors, 2);
    return result;
}

/* The last actor of a ring learns its successor from its first message. */
static int close_ring(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct chain_state *chain = state;

    if (!chain->next) {
        chain->next = bench_number(message);
        bench_finish(bench_of(self));
        return WEIR_DONE;
    }
    return hop(self, state, message);
}

static const struct weir_behaviour closer = { .name = "closer",
                                              .open = open_chain,
                                              .handle = close_ring,
                                              .state_size = sizeof(struct chain_state) };

static struct bench_result run_ring(struct bench *bench)
{
    struct chain_settings settings[RING_ACTORS_MAX] = { { 0 } };
    struct actor *actors[RING_ACTORS_MAX];
    uint32_t count = bench->row.receivers;
    struct bench_result result;

    if (count == 0 || count > RING_ACTORS_MAX)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        settings[i].next = i ? actor_pid(actors[i - 1]) : 0;
        actors[i] = bench_spawn(bench, i ? &hopper : &closer, &settings[i], NULL);
    }
    atomic_store(&bench->running, 1);
    bench_send(bench, actor_pid(actors[0]), actor_pid(actors[count - 1]));
    bench_wait(bench);
    result = time_chain(bench, actor_pid(actors[0]), bench->row.each);
    bench_end(bench, actors, count);
    return result;
}

/* --- requests ------------------------------------------------------------------------------- */

static int answer(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, NULL, sizeof(uint64_t));

    (void)state;
    *(uint64_t *)reply->data = bench_number(message) + 1;
    if (weir_reply(self, message, reply) != 0)
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour answerer = { .name = "answer", .handle = answer };

static void ask(struct weir_self *self, struct chain_state *chain);

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct chain_state *chain = state;

    (void)context;
    if (reply->status != 0)
        abort();
    chain->sum += bench_number(reply->message);
    if (--chain->left > 0) {
        ask(self, chain);
        return;
    }
    atomic_store(&bench_of(self)->sum, chain->sum);
    bench_finish(bench_of(self));
}

static void ask(struct weir_self *self, struct chain_state *chain)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof(uint64_t));

    *(uint64_t *)message->data = chain->left;
    if (weir_request(self, chain->next, message, TIMEOUT_MS, answered, NULL, NULL) != 0)
        abort();
}

static int begin_asking(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct chain_state *chain = state;

    chain->left = bench_number(message);
    ask(self, chain);
    return WEIR_DONE;
}

static const struct weir_behaviour asker = { .name = "ask",
                                             .open = open_chain,
                                             .handle = begin_asking,
                                             .state_size = sizeof(struct chain_state) };

static struct bench_result run_request(struct bench *bench)
{
    uint64_t count = bench->row.each;
    struct chain_settings settings;
    struct actor *actors[2];
    struct bench_result result;

    actors[0] = bench_spawn(bench, &answerer, NULL, NULL);
    settings.next = actor_pid(actors[0]);
    actors[1] = bench_spawn(bench, &asker, &settings, NULL);
    result = time_chain(bench, actor_pid(actors[1]), count);
    result.ok = atomic_load(&bench->sum) == count * (count + 1) / 2 + count;
    bench_end(bench, actors, 2);
    return result;
}

const struct bench_row bench_chain_rows[] = {
    { "pingpong", run_pingpong },
    { "ring", run_ring },
    { "request", run_request },
    { 0 },
};
