/* SPDX-License-Identifier: MIT */
/*
 * The cost of a budget for other actors: `guest` is the time from sending a message from outside to
 * its handling, while 32 actors always have more messages than any budget, at about 1 us each.
 */
#include <stdlib.h>

#include "bench.h"

#define HOSTS_MAX 1000
#define EACH 600 /* messages that each of them always has: more than the largest budget measured */

struct host_settings {
    _Atomic bool stop; /* written by the bench's thread, read by the hosts */
};

struct host_state {
    struct host_settings *settings;
    uint64_t noise;
};

static int open_host(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct host_state *)state)->settings = *(struct host_settings *const *)settings;
    return 0;
}

/* Works, and gives itself the same again. */
static int work(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct host_state *host = state;

    host->noise = row_work(host->noise + bench_number(message), bench_of(self)->row.steps);
    /* Relaxed: a host that sees it late does a little more. */
    if (!atomic_load_explicit(&host->settings->stop, memory_order_relaxed) &&
        !bench_pass(self, weir_pid_of(self), bench_number(message)))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour host = {
    .name = "host", .open = open_host, .handle = work, .state_size = sizeof(struct host_state)
};

/* The number is when the message was sent. */
static int arrive(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct bench *bench = bench_of(self);

    (void)state;
    atomic_fetch_add(&bench->sum, row_now_ns() - bench_number(message));
    bench_finish(bench);
    return WEIR_DONE;
}

static const struct weir_behaviour guest = { .name = "guest", .handle = arrive };

static struct bench_result run_guest(struct bench *bench)
{
    uint32_t hosts = bench->row.senders;
    struct bench_result result = { .messages = bench->row.each, .ok = true };
    struct host_settings settings = { false }, *shared = &settings;
    struct actor *actors[HOSTS_MAX + 1];

    if (hosts == 0 || hosts > HOSTS_MAX)
        abort();
    for (uint32_t i = 0; i < hosts; i++)
        actors[i] = bench_spawn(bench, &host, &shared, NULL);
    actors[hosts] = bench_spawn(bench, &guest, NULL, NULL);
    for (uint32_t i = 0; i < hosts * EACH; i++)
        bench_send(bench, actor_pid(actors[i % hosts]), i);
    for (uint64_t i = 0; i < result.messages; i++) {
        atomic_store(&bench->running, 1);
        bench_send(bench, actor_pid(actors[hosts]), row_now_ns());
        bench_wait(bench);
    }
    atomic_store(&settings.stop, true);
    result.ns = atomic_load(&bench->sum);
    bench_end(bench, actors, hosts + 1);
    return result;
}

const struct bench_row bench_budget_rows[] = {
    { "guest", run_guest },
    { 0 },
};
