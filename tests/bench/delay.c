/* SPDX-License-Identifier: MIT */
/*
 * The time that messages wait: `latency` at half load, `hog` beside an actor with long turns;
 * `outside`, the time that a thread outside needs to send one; and `overload`, the throughput when
 * senders offer far more messages than fit.
 *
 * A thread outside sends the messages of `latency`, `hog` and `outside`; those of the first two at
 * moments that do not depend on the delays of earlier ones. A message of these two carries its
 * number; its receiver records its delay.
 */
#include <stdlib.h>

#include "bench.h"

#define BURST 32
#define SENDERS_MAX 64
#define LIGHT_ACTORS_MAX 10000

/* The settings of the receivers that record delays. */
struct schedule {
    uint64_t steps;
    uint64_t *sent;   /* when each message was to be sent, or was; written before it is sent */
    uint64_t *delays; /* an element is written by the handler of its message */
};

struct noter_state {
    const struct schedule *schedule;
    uint64_t noise;
};

static int open_noter(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct noter_state *)state)->schedule = *(const struct schedule *const *)settings;
    return 0;
}

/* Works, then writes down how long ago the message was due. */
static int note_delay(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct noter_state *noter = state;
    const struct schedule *schedule = noter->schedule;
    uint64_t number = bench_number(message);

    noter->noise = row_work(noter->noise + number, schedule->steps);
    schedule->delays[number] = row_now_ns() - schedule->sent[number];
    bench_finish(bench_of(self));
    return WEIR_DONE;
}

static const struct weir_behaviour noter = { .name = "note",
                                             .open = open_noter,
                                             .handle = note_delay,
                                             .state_size = sizeof(struct noter_state) };

static void schedule_init(struct schedule *schedule, uint64_t steps, uint64_t messages)
{
    schedule->steps = steps;
    schedule->sent = calloc(messages, sizeof *schedule->sent);
    schedule->delays = calloc(messages, sizeof *schedule->delays);
    if (!schedule->sent || !schedule->delays)
        abort();
}

/* --- latency: a pool at half load ----------------------------------------------------------- */

/* A message each time that two of them could be worked on. */
static void send_at_half_load(struct bench *bench, weir_pid pool, struct schedule *schedule,
                              uint64_t messages)
{
    double interval = 2 * row_work_ns(bench->row.steps);
    uint64_t start = row_now_ns();

    for (uint64_t i = 0; i < messages; i++) {
        schedule->sent[i] = start + (uint64_t)(interval * (double)i);
        while (row_now_ns() < schedule->sent[i])
            ;
        bench_send(bench, pool, i);
    }
}

static struct bench_result run_latency(struct bench *bench)
{
    uint64_t messages = bench->row.each, start;
    struct bench_result result = { .messages = messages };
    struct schedule schedule, *shared = &schedule;
    struct spec *spec = spec_create(&noter, &shared);
    struct pool_options options = {
        .path = "bench", .dispatcher = bench->dispatcher, .spec = spec, .size = bench->row.receivers
    };
    struct pool *pool;

    schedule_init(&schedule, bench->row.steps, messages);
    pool = bench_make_pool(bench, &options);
    atomic_store(&bench->running, (uint32_t)messages);
    start = row_now_ns();
    send_at_half_load(bench, pool->pid, &schedule, messages);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    result.ok = bench_end_pool(bench, pool, messages);
    result.delays = schedule.delays;
    spec_unref(spec);
    free(schedule.sent);
    return result;
}

/* --- outside: what a thread outside pays for a message -------------------------------------- */

static int count_it(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    bench_finish(bench_of(self));
    return WEIR_DONE;
}

static const struct weir_behaviour counter = { .name = "count", .handle = count_it };

/* The time until the last message is sent, not until it is handled. */
static struct bench_result run_outside(struct bench *bench)
{
    struct bench_result result = { .messages = bench->row.each, .ok = true };
    struct actor *actor = bench_spawn(bench, &counter, NULL, NULL);
    uint64_t start = row_now_ns();

    atomic_store(&bench->running, (uint32_t)result.messages);
    for (uint64_t i = 0; i < result.messages; i++)
        bench_send(bench, actor_pid(actor), i);
    result.ns = row_now_ns() - start;
    bench_wait(bench);
    bench_end(bench, &actor, 1);
    return result;
}

/* --- hog: one actor with long turns beside many with short ones ------------------------------ */

struct hog_settings {
    _Atomic bool stop; /* written by the bench's thread, read by the hog */
};

struct hog_state {
    struct hog_settings *settings;
    uint64_t noise;
};

static int open_hog(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct hog_state *)state)->settings = *(struct hog_settings *const *)settings;
    return 0;
}

/* A long turn, and another one. */
static int hog_on(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct hog_state *hog = state;

    hog->noise = row_work(hog->noise + bench_number(message), bench_of(self)->row.steps);
    /* Relaxed: a hog that sees it late has one turn more. */
    if (!atomic_load_explicit(&hog->settings->stop, memory_order_relaxed) &&
        !bench_pass(self, weir_pid_of(self), bench_number(message)))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour hog = {
    .name = "hog", .open = open_hog, .handle = hog_on, .state_size = sizeof(struct hog_state)
};

static void send_to_light_ones(struct bench *bench, struct actor *const *actors,
                               struct schedule *schedule, uint64_t messages)
{
    uint64_t start = row_now_ns();

    for (uint64_t i = 0; i < messages; i++) {
        row_sleep_until(start + i * ROW_HOG_INTERVAL_NS);
        schedule->sent[i] = row_now_ns();
        bench_send(bench, actor_pid(actors[i % bench->row.receivers]), i);
    }
}

static struct bench_result run_hog(struct bench *bench)
{
    uint32_t count = bench->row.receivers;
    uint64_t messages = bench->row.each * count, start;
    struct bench_result result = { .messages = messages, .ok = true };
    struct schedule schedule, *shared = &schedule;
    struct hog_settings settings = { false }, *hog_shared = &settings;
    struct actor *actors[LIGHT_ACTORS_MAX + 1];

    if (count == 0 || count > LIGHT_ACTORS_MAX)
        abort();
    schedule_init(&schedule, 0, messages);
    for (uint32_t i = 0; i < count; i++)
        actors[i] = bench_spawn(bench, &noter, &shared, NULL);
    actors[count] = bench_spawn(bench, &hog, &hog_shared, NULL);
    atomic_store(&bench->running, (uint32_t)messages);
    start = row_now_ns();
    bench_send(bench, actor_pid(actors[count]), 0);
    send_to_light_ones(bench, actors, &schedule, messages);
    bench_wait(bench);
    result.ns = row_now_ns() - start;
    atomic_store(&settings.stop, true);
    bench_end(bench, actors, count + 1);
    result.delays = schedule.delays;
    free(schedule.sent);
    return result;
}

/* --- overload: ten times as much as fits ----------------------------------------------------- */

struct overload_settings {
    weir_pid pool;
    uint64_t each;
    double interval_ns; /* of one sender */
};

struct overload_state {
    const struct overload_settings *settings;
    uint64_t start_ns;
    uint64_t offered;
    uint64_t refused;
};

static int open_offerer(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct overload_state *)state)->settings = *(struct overload_settings *const *)settings;
    return 0;
}

/* Offers the messages that are due, at most a burst; drops refused ones. */
static int offer(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct overload_state *offerer = state;
    const struct overload_settings *settings = offerer->settings;
    uint64_t now = row_now_ns(), due;

    if (offerer->start_ns == 0)
        offerer->start_ns = now;
    due = (uint64_t)((double)(now - offerer->start_ns) / settings->interval_ns);
    due = due > settings->each ? settings->each : due;
    for (uint32_t i = 0; i < BURST && offerer->offered < due; i++, offerer->offered++)
        offerer->refused += !bench_pass(self, settings->pool, offerer->offered);
    if (offerer->offered < settings->each) {
        if (!bench_pass(self, weir_pid_of(self), bench_number(message)))
            abort();
        return WEIR_DONE;
    }
    atomic_fetch_add(&bench_of(self)->sum, offerer->refused);
    bench_finish(bench_of(self));
    return WEIR_DONE;
}

static const struct weir_behaviour offerer = { .name = "offer",
                                               .open = open_offerer,
                                               .handle = offer,
                                               .state_size = sizeof(struct overload_state) };

static int just_work(struct weir_self *self, void *state, const struct weir_message *message)
{
    uint64_t *noise = state;

    *noise = row_work(*noise + bench_number(message), bench_of(self)->row.steps);
    return WEIR_DONE;
}

static const struct weir_behaviour labourer = { .name = "labour",
                                                .handle = just_work,
                                                .state_size = sizeof(uint64_t) };

static struct bench_result run_overload(struct bench *bench)
{
    const struct row *row = &bench->row;
    struct spec *spec = spec_create(&labourer, NULL);
    struct pool_options options = { .path = "bench",
                                    .dispatcher = bench->dispatcher,
                                    .spec = spec,
                                    .size = row->receivers,
                                    .settings.mailbox = row->limit };
    struct pool *pool = bench_make_pool(bench, &options);
    struct overload_settings settings = { pool->pid, row->each, row_overload_interval_ns(row) };
    struct overload_settings *shared = &settings;
    struct actor *senders[SENDERS_MAX];
    struct bench_result result;
    uint64_t start;

    if (row->senders > SENDERS_MAX)
        abort();
    for (uint32_t i = 0; i < row->senders; i++)
        senders[i] = bench_spawn(bench, &offerer, &shared, NULL);
    atomic_store(&bench->running, row->senders);
    start = row_now_ns();
    for (uint32_t i = 0; i < row->senders; i++)
        bench_send(bench, actor_pid(senders[i]), 0);
    bench_wait(bench);
    /* Handled messages count, until the last one is done. */
    result = (struct bench_result){ .messages = row->each * row->senders -
                                                atomic_load(&bench->sum) };
    result.ok = bench_end_pool(bench, pool, result.messages);
    result.ns = row_now_ns() - start;
    bench_end(bench, senders, row->senders);
    spec_unref(spec);
    return result;
}

const struct bench_row bench_delay_rows[] = {
    { "latency", run_latency },
    { "outside", run_outside },
    { "hog", run_hog },
    { "overload", run_overload },
    { 0 },
};
