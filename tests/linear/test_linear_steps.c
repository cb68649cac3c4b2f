/* SPDX-License-Identifier: MIT */
/*
 * Goal: as test_linear.c, wherever a thread may be interrupted between two atomic operations.
 *
 * Method: callers and executors are fibers on a core that lets others go first at each atomic
 * operation and each mutex, as the seed draws. So a seed gives one history, always the same.
 *
 *      test_linear_steps [--seed FIRST] [--histories COUNT]
 *
 * promise Z4
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear/linear.h"
#include "linear/subject.h"
#include "storm/fiber_executor.h"

#define STEPS_MAX 1000000u /* of one seed: more means an endless loop */

struct trial {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct fibers *fibers;
    struct subject subject;
    uint32_t callers;
    uint32_t over;
    bool released;
    uint64_t yields; /* at the last wake-up of all */
};

static uint64_t now_ns(void *context)
{
    (void)context;
    return 1;
}

static void wait_a_little(void *context)
{
    (void)context;
    fibers_rest();
}

static void step_aside(void *context)
{
    (void)context;
    fibers_may_yield();
}

static void run_caller(void *context)
{
    struct trial *trial = context;

    subject_call(&trial->subject, trial->callers++, step_aside);
    trial->over++;
    fibers_yield();
}

static void run_release(void *context)
{
    struct trial *trial = context;

    subject_release(&trial->subject);
    trial->released = true;
    fibers_yield();
}

static bool are_open(struct trial *trial)
{
    return subject_is_open(&trial->subject);
}

static bool are_over(struct trial *trial)
{
    return trial->over == SUBJECT_CALLERS;
}

static bool has_ended(struct trial *trial)
{
    return trial->released && subject_has_ended(&trial->subject);
}

/* Until no fiber can go on: a reader keeps memory from being freed. */
static bool are_at_rest(struct trial *trial)
{
    (void)trial;
    return false;
}

/* A fiber may have rested after the event that it waits for, so all look once more. */
static bool rouse(struct trial *trial)
{
    uint64_t yields = fibers_yields(trial->fibers);

    if (yields == trial->yields)
        return false;
    trial->yields = yields;
    fibers_rouse(trial->fibers);
    return true;
}

static bool go_on_until(struct trial *trial, bool (*done)(struct trial *trial))
{
    /* The data is under mutexes that a fiber may hold. */
    for (uint32_t steps = 0; steps < STEPS_MAX; steps++) {
        if (!fibers_hold_locks(trial->fibers) && done(trial))
            return true;
        if (!fibers_step(trial->fibers) && !rouse(trial))
            break;
    }
    return !fibers_hold_locks(trial->fibers) && done(trial);
}

static void begin(struct trial *trial, uint64_t seed)
{
    static const uint32_t steps_between[] = { 2, 5, 15, 50 };
    struct runtime_options options = { .clock = { now_ns, trial } };

    *trial = (struct trial){ .fibers = fibers_create(seed, 2) };
    if (runtime_create(&options, &trial->runtime) != 0 ||
        runtime_add_dispatcher(trial->runtime, "default", SUBJECT_THREADS, NULL,
                               &trial->dispatcher) != 0)
        abort();
    for (uint32_t i = 0; i < SUBJECT_THREADS; i++) {
        struct executor *executor = dispatcher_executor(trial->dispatcher, i);

        executor->random = seed * SUBJECT_THREADS + i + 1; /* not from its address in memory */
        fibers_add(trial->fibers, fiber_executor, executor, 1 + fibers_draw(trial->fibers, 4));
    }
    fibers_preempt_steps(trial->fibers, steps_between[fibers_draw(trial->fibers, 4)]);
}

static void finish(struct trial *trial)
{
    if (runtime_stop(trial->runtime) != 0)
        abort();
    runtime_destroy(trial->runtime);
    fibers_destroy(trial->fibers);
}

/* Prints the failure. */
static bool expect(const struct trial *trial, bool holds, const char *what)
{
    if (!holds) {
        history_print(&trial->subject.history);
        (void)fprintf(stderr, "wrong: %s\n", what);
    }
    return holds;
}

static bool try_one(struct trial *trial, uint64_t seed, uint64_t *out_trace)
{
    struct subject_options options = { seed, NULL, NULL, wait_a_little, trial };

    begin(trial, seed);
    options.runtime = trial->runtime;
    options.dispatcher = trial->dispatcher;
    subject_init(&trial->subject, &options);
    if (!expect(trial, go_on_until(trial, are_open), "its workers do not open"))
        return false;
    subject_begin(&trial->subject);
    for (uint32_t i = 0; i < SUBJECT_CALLERS; i++)
        fibers_add(trial->fibers, run_caller, trial, 1 + fibers_draw(trial->fibers, 4));
    if (!expect(trial, go_on_until(trial, are_over), "a call does not return"))
        return false;
    fibers_add(trial->fibers, run_release, trial, 1);
    fibers_rouse(trial->fibers);
    if (!expect(trial, go_on_until(trial, has_ended), "it does not end") ||
        !expect(trial, subject_finish(&trial->subject), "a message is lost, or handled twice"))
        return false;
    (void)go_on_until(trial, are_at_rest);
    *out_trace = fibers_trace(trial->fibers);
    finish(trial);
    return expect(trial, linear_check(&trial->subject.history), "it is not linearizable");
}

int main(int count, char **arguments)
{
    static struct trial trial;
    uint64_t first = 1, histories = 3000, trace = 0, trace_of_first = 0;

    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seed") == 0)
            first = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--histories") == 0)
            histories = strtoull(arguments[i + 1], NULL, 10);
    }
    (void)printf("seeds %" PRIu64 "..%" PRIu64 "\n", first, first + histories - 1);
    (void)fflush(stdout);
    for (uint64_t seed = first; seed < first + histories; seed++) {
        if (!try_one(&trial, seed, &trace))
            return 1;
        if (seed == first)
            trace_of_first = trace;
    }
    if (!try_one(&trial, first, &trace) || trace != trace_of_first) {
        (void)fprintf(stderr, "wrong: seed %" PRIu64 " gives another order\n", first);
        return 1;
    }
    return 0;
}
