/*
 * Many actors instead of few: `many` is how much dearer a message gets when a million actors take
 * turns instead of as many as there are messages on their way.
 */
#include <sched.h>
#include <stdlib.h>

#include "bench.h"

#define MANY (1u << INDEX_BITS)
#define INDEX_BITS 20
#define TEST_DIVISOR 100u /* from here on only the results count: a few actors do */
#define STRIDE 4099u      /* odd, so that all are visited; none stands beside the one before */
#define TOKENS 64u        /* messages on their way at any time */

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

/* The last message of each token is settled after it was told of. */
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
    start = bench_now_ns();
    /* Each goes over its own part of the way round. */
    for (uint32_t i = 0; i < TOKENS; i++) {
        uint64_t at = messages / TOKENS * i * STRIDE % count;

        bench_send(bench, crowd.pids[at], (messages / TOKENS - 1) << INDEX_BITS | at);
    }
    bench_wait(bench);
    end = bench_now_ns();
    while (!all_sleep(&crowd))
        (void)sched_yield();
    *ok &= is_even(&crowd, messages);
    bench_end(bench, crowd.actors, count);
    spec_unref(spec);
    free(crowd.actors);
    free(crowd.pids);
    return (double)(end - start) / (double)messages;
}

static struct bench_result run_many(struct bench *bench)
{
    /* Each of the many gets as many, and each token goes round as far as any. */
    uint32_t many = bench->divisor < TEST_DIVISOR ? MANY : 1024;
    uint64_t messages = (uint64_t)many * 4;
    struct bench_result result = { .messages = messages, .ok = true };
    double few = time_crowd(bench, TOKENS, messages, &result.ok);

    result.figure = time_crowd(bench, many, messages, &result.ok) / few;
    return result;
}

const struct bench_row bench_scale_rows[] = {
    { "many", 2, 2, run_many, true, BENCH_FLOOR_NONE },
    { 0 },
};
