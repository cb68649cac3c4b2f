/* SPDX-License-Identifier: MIT */
/*
 * Goal: as test_lease_linear.c, wherever a thread may be interrupted between two atomic operations.
 *
 * Method: callers and executors are fibers on a core that lets others go first at each atomic
 * operation and each mutex, as the seed draws. Something in the order also depends on addresses in
 * memory, so a seed that fails may need some tries to fail again. A round is over when no fiber can
 * go on: a wake-up that is lost, and a taker that waits while a worker is free, is seen at once.
 *
 *      test_lease_linear_steps [--seed FIRST] [--seeds COUNT]
 *
 * promises P33 and P37
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear/lease_subject.h"
#include "storm/fiber_executor.h"

#define THREADS 3u
#define ROUNDS 30u
#define START_NS 1000000000u
#define NS_PER_MS 1000000u
#define STEPS_MAX 1000000u /* until one rest: more means an endless loop */

struct trial {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct fibers *fibers;
    struct lease_subject subject;
    uint64_t now_ns;
    uint32_t round;
    uint32_t callers;
    bool is_closed;
};

static uint64_t now_ns(void *context)
{
    return ((struct trial *)context)->now_ns;
}

static void advance(void *context, uint64_t ms)
{
    ((struct trial *)context)->now_ns += ms * NS_PER_MS;
}

/* --- fibers ----------------------------------------------------------------------------------- */

static void run_caller(void *context)
{
    struct trial *trial = context;
    uint32_t number = trial->callers++;

    for (uint32_t done = 0; !trial->is_closed; done++) {
        while (trial->round == done && !trial->is_closed)
            fibers_rest();
        if (!trial->is_closed)
            lease_subject_act(&trial->subject, number);
        fibers_yield();
    }
}

static void run_close(void *context)
{
    struct trial *trial = context;

    lease_subject_close(&trial->subject);
    fibers_yield();
}

static bool comes_to_rest(struct trial *trial)
{
    return fibers_come_to_rest(trial->fibers, STEPS_MAX);
}

/* --- one history ------------------------------------------------------------------------------ */

static void begin(struct trial *trial, uint64_t seed)
{
    static const uint32_t steps_between[] = { 2, 5, 15, 50 };
    struct runtime_options options = { .clock = { now_ns, trial } };

    *trial = (struct trial){ .fibers = fibers_create(seed, 2), .now_ns = START_NS + seed };
    if (runtime_create(&options, &trial->runtime) != 0 ||
        runtime_add_dispatcher(trial->runtime, "default", THREADS, NULL, &trial->dispatcher) != 0)
        abort();
    for (uint32_t i = 0; i < THREADS; i++)
        fibers_add(trial->fibers, fiber_executor, dispatcher_executor(trial->dispatcher, i),
                   1 + fibers_draw(trial->fibers, 4));
    fibers_preempt_steps(trial->fibers, steps_between[fibers_draw(trial->fibers, 4)]);
}

static void finish(struct trial *trial)
{
    lease_subject_finish(&trial->subject);
    if (runtime_stop(trial->runtime) != 0)
        abort();
    runtime_destroy(trial->runtime);
    fibers_destroy(trial->fibers);
}

/* Prints the failure. */
static bool expect(struct trial *trial, bool holds, const char *what)
{
    if (!holds) {
        lease_subject_print(&trial->subject);
        (void)fprintf(stderr, "wrong: %s, seed %" PRIu64 ", round %u\n", what,
                      trial->subject.options.seed, trial->round);
    }
    return holds;
}

static bool try_rounds(struct trial *trial)
{
    for (uint32_t i = 0; i < LEASE_CALLERS; i++)
        fibers_add(trial->fibers, run_caller, trial, 1 + fibers_draw(trial->fibers, 4));
    while (trial->round < ROUNDS) {
        lease_subject_draw(&trial->subject);
        trial->round++;
        if (!expect(trial, comes_to_rest(trial), "it never comes to rest") ||
            !expect(trial, lease_subject_is_explained(&trial->subject),
                    "no order explains a round") ||
            !expect(trial, atomic_load(&trial->subject.wrong) == 0, "used by two"))
            return false;
        /* The program's takers use their leases. */
        if (!expect(trial, comes_to_rest(trial), "it never comes to rest"))
            return false;
    }
    return true;
}

struct totals {
    uint64_t served, full, late, expired, timed_out;
};

static void add(struct totals *totals, const struct lease_subject *subject)
{
    totals->served += subject->served;
    totals->full += subject->full;
    totals->late += subject->late;
    totals->expired += subject->expired;
    totals->timed_out += subject->timed_out;
}

static bool try_one(struct trial *trial, uint64_t seed, struct totals *totals)
{
    struct lease_subject_options options = { .seed = seed, .advance = advance, .context = trial };

    begin(trial, seed);
    options.runtime = trial->runtime;
    options.dispatcher = trial->dispatcher;
    lease_subject_init(&trial->subject, &options);
    if (!expect(trial, comes_to_rest(trial) && lease_subject_is_ready(&trial->subject),
                "its workers do not open") ||
        !try_rounds(trial))
        return false;
    add(totals, &trial->subject);
    trial->is_closed = true;
    fibers_add(trial->fibers, run_close, trial, 1);
    if (!expect(trial, comes_to_rest(trial) && lease_subject_has_ended(&trial->subject),
                "it does not end"))
        return false;
    finish(trial);
    return true;
}

int main(int count, char **arguments)
{
    static struct trial trial;
    struct totals totals = { 0 };
    uint64_t first = 1, seeds = 100;

    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seed") == 0)
            first = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--seeds") == 0)
            seeds = strtoull(arguments[i + 1], NULL, 10);
    }
    (void)printf("seeds %" PRIu64 "..%" PRIu64 "\n", first, first + seeds - 1);
    (void)fflush(stdout);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!try_one(&trial, seed, &totals))
            return 1;
    (void)printf("leases %" PRIu64 ", refused %" PRIu64 ", ended late %" PRIu64 ", expired %" PRIu64
                 ", takes timed out %" PRIu64 "\n",
                 totals.served, totals.full, totals.late, totals.expired, totals.timed_out);
    /* Histories without these are none. */
    return totals.served > 0 && totals.full > 0 && totals.expired > 0 && totals.timed_out > 0 ? 0
                                                                                              : 1;
}
