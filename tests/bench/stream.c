/* SPDX-License-Identifier: MIT */
/* Many messages at once between plain actors: count, fjthrput, contend, big. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define SENDERS_MAX 100
#define RECEIVERS_MAX 60
#define BIG_ACTORS_MAX 1000
#define BURST 64 /* messages a sender puts out for one of its own */

struct stream_settings {
    uint32_t target_count;
    uint64_t per_target;
};

struct sender_state {
    uint64_t left;
    uint32_t target_count;
    uint32_t next;
};

static int count_one(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    *(uint64_t *)state += bench_number(message);
    return WEIR_DONE;
}

static const struct weir_behaviour counter = { .name = "count",
                                               .handle = count_one,
                                               .state_size = sizeof(uint64_t) };

static int open_sender(struct weir_self *self, const void *settings, void *state)
{
    const struct stream_settings *stream = settings;
    struct sender_state *sender = state;

    (void)self;
    sender->target_count = stream->target_count;
    sender->left = stream->per_target * stream->target_count;
    return 0;
}

static void put_out(struct weir_self *self, struct sender_state *sender)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof(uint64_t));

    *(uint64_t *)message->data = sender->left--;
    if (weir_emit(self, sender->next, message) != 0)
        abort();
    if (++sender->next == sender->target_count)
        sender->next = 0;
}

/* A burst to its outputs in turn, then a message to itself for the next one. */
static int send_burst(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct sender_state *sender = state;

    for (uint32_t i = 0; i < BURST && sender->left > 0; i++)
        put_out(self, sender);
    if (sender->left == 0)
        bench_finish(bench_of(self));
    else if (!bench_pass(self, weir_pid_of(self), bench_number(message)))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour burster = { .name = "burst",
                                               .open = open_sender,
                                               .handle = send_burst,
                                               .state_size = sizeof(struct sender_state) };

static struct pool *make_receiver(struct bench *bench, uint32_t index)
{
    struct spec *spec = spec_create(&counter, NULL);
    char path[16];
    struct pool_options options = { .path = path,
                                    .dispatcher = bench->dispatcher,
                                    .spec = spec,
                                    .size = 1,
                                    .settings.mailbox = bench->row.limit };
    struct pool *pool;

    (void)snprintf(path, sizeof path, "receiver%u", index);
    pool = bench_make_pool(bench, &options);
    spec_unref(spec);
    return pool;
}

/*
 * Each sender sends so many messages to each receiver. Receivers are pools of one worker; a sender
 * that finds one full waits, as with `when_full: wait`.
 */
static struct bench_result run_stream(struct bench *bench)
{
    uint32_t senders = bench->row.senders, receivers = bench->row.receivers;
    uint64_t each = bench->row.each;
    struct stream_settings settings = { .target_count = receivers, .per_target = each };
    struct bench_result result = { .messages = each * senders * receivers, .ok = true };
    struct wiring *wiring = wiring_create(receivers);
    struct wiring_slot slot = { .wiring = wiring };
    struct pool *pools[RECEIVERS_MAX];
    struct actor *actors[SENDERS_MAX];
    uint64_t start;

    if (senders > SENDERS_MAX || receivers > RECEIVERS_MAX)
        abort();
    for (uint32_t i = 0; i < receivers; i++) {
        pools[i] = make_receiver(bench, i);
        wiring->bindings[i] = (struct binding){ pools[i]->pid, WEIR_FULL_WAIT };
    }
    for (uint32_t i = 0; i < senders; i++)
        actors[i] = bench_spawn(bench, &burster, &settings, &slot);
    atomic_store(&bench->running, senders);
    start = row_now_ns();
    for (uint32_t i = 0; i < senders; i++)
        bench_send(bench, actor_pid(actors[i]), 0);
    bench_wait(bench);
    bench_end(bench, actors, senders);
    for (uint32_t i = 0; i < receivers; i++)
        result.ok &= bench_end_pool(bench, pools[i], each * senders);
    result.ns = row_now_ns() - start;
    wiring_destroy(wiring);
    return result;
}

/* --- big: everybody pings somebody at random and waits for the pong ------------------------- */

struct big_settings {
    weir_pid actors[BIG_ACTORS_MAX];
    uint32_t count;
    uint64_t pings;
};

struct big_state {
    const struct big_settings *settings;
    uint64_t left;
    uint64_t random;
};

enum big_word { BIG_PING, BIG_PONG, BIG_GO };

static int open_big(struct weir_self *self, const void *settings, void *state)
{
    struct big_state *big = state;

    big->settings = settings;
    big->left = big->settings->pings;
    big->random = weir_pid_of(self) * 0x9e3779b97f4a7c15u | 1;
    return 0;
}

static void ping_somebody(struct weir_self *self, struct big_state *big)
{
    if (big->left == 0) {
        bench_finish(bench_of(self));
        return;
    }
    big->left--;
    if (!bench_pass(self, big->settings->actors[row_random(&big->random) % big->settings->count],
                    BIG_PING))
        abort();
}

static int handle_big(struct weir_self *self, void *state, const struct weir_message *message)
{
    if (bench_number(message) != BIG_PING)
        ping_somebody(self, state);
    else if (!bench_pass(self, message->from, BIG_PONG))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour big_one = {
    .name = "big", .open = open_big, .handle = handle_big, .state_size = sizeof(struct big_state)
};

static struct bench_result run_big(struct bench *bench)
{
    uint32_t count = bench->row.receivers;
    struct big_settings settings = { .count = count, .pings = bench->row.each };
    struct actor *actors[BIG_ACTORS_MAX];
    struct bench_result result = { .messages = 2 * count * settings.pings, .ok = true };
    uint64_t start;

    if (count > BIG_ACTORS_MAX)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        actors[i] = bench_spawn(bench, &big_one, &settings, NULL);
        settings.actors[i] = actor_pid(actors[i]);
    }
    atomic_store(&bench->running, count);
    start = row_now_ns();
    for (uint32_t i = 0; i < count; i++)
        bench_send(bench, settings.actors[i], BIG_GO);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    bench_end(bench, actors, count);
    return result;
}

const struct bench_row bench_stream_rows[] = {
    { "count", run_stream },
    { "fjthrput", run_stream },
    { "big", run_big },
    { "contend", run_stream },
    { 0 },
};
