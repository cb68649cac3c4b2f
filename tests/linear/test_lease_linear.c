/* SPDX-License-Identifier: MIT */
/*
 * Goal: what several callers do at the same time with the leases of a group of pools has the
 * outcome of some order of the same acts, one after the other: holders, waiting takers and
 * refusals; and no worker has two users.
 *
 * Method: histories of rounds, by threads: takes from the group and from its pools, returns,
 * workers and takers that fail, takers that give up, changes of size, and times that pass, of
 * leases and of takes. After
 * each round the test waits until what it sees is explained by the model of lease_model.h. The acts
 * depend on the seed, their order on the machine.
 *
 *      test_lease_linear [--seed FIRST] [--histories COUNT]
 *
 * promises P33 and P37
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/timekeeper.h"
#include "linear/lease_subject.h"
#include "unit/support/wait_limit.h"

#define THREADS 3u
#define ROUNDS 60u
#define START_NS 1000000000u
#define NS_PER_MS 1000000u

struct trial {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct lease_subject subject;
    _Atomic uint64_t now_ns;
    _Atomic uint64_t round; /* the number of the round; UINT64_MAX: the end */
    _Atomic uint32_t over;  /* callers that are through with it */
    _Atomic uint32_t callers;
    pthread_t threads[LEASE_CALLERS];
};

static uint64_t now_ns(void *context)
{
    return atomic_load(&((struct trial *)context)->now_ns);
}

static void advance(void *context, uint64_t ms)
{
    struct trial *trial = context;

    atomic_fetch_add(&trial->now_ns, ms * NS_PER_MS);
    timekeeper_look(trial->runtime->timekeeper);
}

static void *run_caller(void *argument)
{
    struct trial *trial = argument;
    uint32_t number = atomic_fetch_add(&trial->callers, 1);

    for (uint64_t done = 0;; done++) {
        uint64_t round;

        while ((round = atomic_load(&trial->round)) == done)
            (void)sched_yield();
        if (round == UINT64_MAX)
            return NULL;
        lease_subject_act(&trial->subject, number);
        atomic_fetch_add(&trial->over, 1);
    }
}

/* --- one history ------------------------------------------------------------------------------ */

static bool is_ready(void *context)
{
    return lease_subject_is_ready(&((struct trial *)context)->subject);
}

static bool is_explained(void *context)
{
    return lease_subject_is_explained(&((struct trial *)context)->subject);
}

static bool has_ended(void *context)
{
    return lease_subject_has_ended(&((struct trial *)context)->subject);
}

static bool wait_for(struct trial *trial, bool (*done)(void *context))
{
    for (uint32_t i = 0; i < wait_limit_ms(); i++)
        if (runtime_wait(trial->runtime, done, trial, 1))
            return true;
    return false;
}

/* Prints the failure. */
static bool expect(struct trial *trial, bool holds, const char *what, uint64_t number)
{
    if (!holds) {
        lease_subject_print(&trial->subject);
        (void)fprintf(stderr, "wrong: %s, seed %" PRIu64 ", %" PRIu64 "\n", what,
                      trial->subject.options.seed, number);
    }
    return holds;
}

static bool try_rounds(struct trial *trial)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        lease_subject_draw(&trial->subject);
        atomic_store(&trial->over, 0);
        atomic_fetch_add(&trial->round, 1);
        while (atomic_load(&trial->over) < LEASE_CALLERS)
            (void)sched_yield();
        if (!expect(trial, wait_for(trial, is_explained), "no order explains a round", round) ||
            !expect(trial, atomic_load(&trial->subject.wrong) == 0, "used by two", round))
            return false;
    }
    return true;
}

struct totals {
    uint64_t served, full, late, expired, timed_out;
};

static bool try_one(struct trial *trial, uint64_t seed, struct totals *totals)
{
    const struct lease_subject_options options = { .seed = seed,
                                                   .runtime = trial->runtime,
                                                   .dispatcher = trial->dispatcher,
                                                   .advance = advance,
                                                   .late_timers = true,
                                                   .context = trial };
    struct lease_subject *subject = &trial->subject;

    lease_subject_init(subject, &options);
    if (!expect(trial, wait_for(trial, is_ready), "its workers do not open", 0) ||
        !try_rounds(trial))
        return false;
    totals->served += subject->served;
    totals->full += subject->full;
    totals->late += subject->late;
    totals->expired += subject->expired;
    totals->timed_out += subject->timed_out;
    lease_subject_close(subject);
    if (!expect(trial, wait_for(trial, has_ended), "it does not end", ROUNDS))
        return false;
    lease_subject_finish(subject);
    return true;
}

static void begin(struct trial *trial)
{
    struct runtime_options options = { .clock = { now_ns, trial } };

    atomic_init(&trial->now_ns, START_NS);
    if (runtime_create(&options, &trial->runtime) != 0 ||
        runtime_add_dispatcher(trial->runtime, "default", THREADS, NULL, &trial->dispatcher) != 0 ||
        runtime_start(trial->runtime) != 0)
        abort();
    for (uint32_t i = 0; i < LEASE_CALLERS; i++)
        if (pthread_create(&trial->threads[i], NULL, run_caller, trial) != 0)
            abort();
}

static void finish(struct trial *trial)
{
    atomic_store(&trial->round, UINT64_MAX);
    for (uint32_t i = 0; i < LEASE_CALLERS; i++)
        pthread_join(trial->threads[i], NULL);
    if (runtime_stop(trial->runtime) != 0)
        abort();
    runtime_destroy(trial->runtime);
}

int main(int count, char **arguments)
{
    static struct trial trial;
    struct totals totals = { 0 };
    uint64_t first = 1, histories = 20;

    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seed") == 0)
            first = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--histories") == 0)
            histories = strtoull(arguments[i + 1], NULL, 10);
    }
    (void)printf("seeds %" PRIu64 "..%" PRIu64 "\n", first, first + histories - 1);
    (void)fflush(stdout);
    begin(&trial);
    for (uint64_t seed = first; seed < first + histories; seed++)
        if (!try_one(&trial, seed, &totals))
            return 1;
    finish(&trial);
    (void)printf("leases %" PRIu64 ", refused %" PRIu64 ", ended late %" PRIu64 ", expired %" PRIu64
                 ", takes timed out %" PRIu64 "\n",
                 totals.served, totals.full, totals.late, totals.expired, totals.timed_out);
    /* Histories without these are none. */
    return totals.served > 0 && totals.full > 0 && totals.expired > 0 && totals.timed_out > 0 ? 0
                                                                                              : 1;
}
