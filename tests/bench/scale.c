/* SPDX-License-Identifier: MIT */
/*
 * Many actors instead of few: `many` is the ratio of the time of a message among a million actors
 * to that among as many actors as there are messages under way.
 */
#include <sched.h>
#include <stdlib.h>

#include "actor/lifecycle.h"
#include "actor/spawn.h"
#include "bench.h"

#define INDEX_BITS 20
#define FEW 1024u    /* the least that is measured: more than TOKENS */
#define STRIDE 4099u /* odd, so that all are visited; none stands beside the one before */
#define TOKENS 64u   /* messages on their way at any time */

/* Who handles number i passes it to number i + STRIDE. The settings of all of them. */
struct crowd {
    uint32_t count; /* a power of two */
    struct actor **actors;
    weir_pid *pids;
};

static int open_one(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    bench_finish(bench_of(self));
    return 0;
}

/* The number holds how often it is passed on yet, and where it is. */
static int pass_on(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct crowd *crowd = actor_of_self(self)->spec->settings;
    uint64_t left = bench_number(message) >> INDEX_BITS;
    uint32_t next = ((uint32_t)bench_number(message) + STRIDE) & (crowd->count - 1);

    (void)state;
    if (left == 0)
        bench_finish(bench_of(self));
    else if (!bench_pass(self, crowd->pids[next], (left - 1) << INDEX_BITS | next))
        abort();
    return WEIR_DONE;
}

static const struct weir_behaviour one_of_many = { .name = "one",
                                                   .open = open_one,
                                                   .handle = pass_on };

static void gather(struct bench *bench, struct crowd *crowd, struct spec *spec)
{
    struct executor *executor = runtime_enter(bench->runtime);
    struct actor_options options = { .dispatcher = bench->dispatcher,
                                     .spec = spec,
                                     .kind = ACTOR_WORKER };

    atomic_store(&bench->running, crowd->count);
    for (uint32_t i = 0; i < crowd->count; i++) {
        if (actor_spawn(bench->runtime, executor, &options, &crowd->actors[i]) != 0)
            abort();
        crowd->pids[i] = actor_pid(crowd->actors[i]);
    }
    runtime_leave(executor);
    bench_wait(bench);
    /* An actor opens after its callback has returned, and takes no message before. */
    for (uint32_t i = 0; i < crowd->count; i++)
        while (actor_state(crowd->actors[i]) != ACTOR_OPEN)
            (void)sched_yield();
}

/* Every actor has handled as many as any other; the ledgers say so. */
static bool is_even(const struct crowd *crowd, uint64_t messages)
{
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct ledger_reading ledger;

        ledger_read(&crowd->actors[i]->ledger, &crowd->actors[i]->mailbox, &ledger);
        if (ledger.done != messages / crowd->count || ledger_reading_difference(&ledger) != 0)
            return false;
    }
    return true;
}

/* The last message of each token is settled after the row has counted it. */
static bool all_sleep(const struct crowd *crowd)
{
    for (uint32_t i = 0; i < crowd->count; i++)
        if (!(atomic_load(&crowd->actors[i]->mailbox.word) & MAILBOX_IDLE))
            return false;
    return true;
}

/* Nanoseconds a message among `count` actors. */
static double time_crowd(struct bench *bench, uint32_t count, uint64_t messages, bool *ok)
{
    struct crowd crowd = { count, calloc(count, sizeof *crowd.actors),
                           calloc(count, sizeof *crowd.pids) };
    struct spec *spec = spec_create(&one_of_many, &crowd);
    uint64_t start, end;

    if (!crowd.actors || !crowd.pids || !spec)
        abort();
    gather(bench, &crowd, spec);
    atomic_store(&bench->running, TOKENS);
    start = row_now_ns();
    /* Each goes over its own part of the way round. */
    for (uint32_t i = 0; i < TOKENS; i++) {
        uint64_t at = messages / TOKENS * i * STRIDE % count;

        bench_send(bench, crowd.pids[at], (messages / TOKENS - 1) << INDEX_BITS | at);
    }
    bench_wait(bench);
    end = row_now_ns();
    while (!all_sleep(&crowd))
        (void)sched_yield();
    *ok &= is_even(&crowd, messages);
    bench_end(bench, crowd.actors, count);
    spec_unref(spec);
    free(crowd.actors);
    free(crowd.pids);
    return (double)(end - start) / (double)messages;
}

static uint32_t power_of_two(uint32_t count)
{
    uint32_t power = FEW;

    while (power * 2 <= count && power < 1u << INDEX_BITS)
        power *= 2;
    return power;
}

static struct bench_result run_many(struct bench *bench)
{
    uint32_t many = power_of_two(bench->row.receivers);
    /* Each of the many gets as many, and each token goes round as far as any. */
    uint64_t messages = (uint64_t)many * 4;
    struct bench_result result = { .messages = messages, .ok = true, .has_figure = true };
    double few = time_crowd(bench, TOKENS, messages, &result.ok);

    result.figure = time_crowd(bench, many, messages, &result.ok) / few;
    return result;
}

const struct bench_row bench_scale_rows[] = {
    { "many", run_many },
    { 0 },
};
