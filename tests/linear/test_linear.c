/* SPDX-License-Identifier: MIT */
/*
 * Goal: what a pool answers to threads that resize it, send to it, look at it, pause and close it
 * at the same time is what it would have answered to them one after the other, in some order in
 * which nothing comes before what was over when it began.
 *
 * Method: short histories, each of a pool of its own. Three threads begin at the same time, and
 * every call and answer is written down with the time of a common counter; workers are held with
 * their first message, so that room does not come back by itself. Then linear.h looks for the
 * order. The calls depend on the seed, their times on the machine.
 *
 *      test_linear [--seed FIRST] [--histories COUNT]
 *
 * promise Z4
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear/linear.h"
#include "linear/subject.h"
#include "unit/support/gate.h"
#include "unit/support/wait_limit.h"

struct trial {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct subject subject;
    struct gate held; /* workers */
    pthread_t threads[SUBJECT_CALLERS];
    _Atomic uint64_t round; /* the number of the history; UINT64_MAX: the end */
    _Atomic uint32_t ready; /* callers that have reached this round */
    _Atomic uint32_t over;
    _Atomic uint32_t callers;
};

static void hold(void *context)
{
    (void)gate_pass(&((struct trial *)context)->held);
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
        /* All of them begin together, if there are enough CPUs. */
        atomic_fetch_add(&trial->ready, 1);
        while (atomic_load(&trial->ready) < SUBJECT_CALLERS)
            (void)sched_yield();
        subject_call(&trial->subject, number, NULL);
        atomic_fetch_add(&trial->over, 1);
    }
}

static bool is_open(void *context)
{
    return subject_is_open(&((struct trial *)context)->subject);
}

static bool has_ended(void *context)
{
    return subject_has_ended(&((struct trial *)context)->subject);
}

static bool wait_for(struct trial *trial, bool (*done)(void *context))
{
    bool is_done = false;

    for (uint32_t i = 0; i < wait_limit_ms() && !is_done; i++)
        is_done = runtime_wait(trial->runtime, done, trial, 1);
    return is_done;
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

static bool try_one(struct trial *trial, uint64_t seed)
{
    struct subject_options options = { seed, trial->runtime, trial->dispatcher, hold, trial };

    gate_shut(&trial->held);
    subject_init(&trial->subject, &options);
    if (!expect(trial, wait_for(trial, is_open), "its workers do not open"))
        return false;
    subject_begin(&trial->subject);
    atomic_store(&trial->ready, 0);
    atomic_store(&trial->over, 0);
    atomic_fetch_add(&trial->round, 1);
    while (atomic_load(&trial->over) < SUBJECT_CALLERS)
        (void)sched_yield();
    gate_open(&trial->held);
    subject_release(&trial->subject);
    return expect(trial, wait_for(trial, has_ended), "it does not end") &&
           expect(trial, subject_finish(&trial->subject), "a message is lost, or handled twice") &&
           expect(trial, linear_check(&trial->subject.history), "it is not linearizable");
}

static void begin(struct trial *trial)
{
    struct runtime_options options = { .clock = clock_monotonic() };

    gate_init(&trial->held);
    if (runtime_create(&options, &trial->runtime) != 0 ||
        runtime_add_dispatcher(trial->runtime, "default", SUBJECT_THREADS, NULL,
                               &trial->dispatcher) != 0 ||
        runtime_start(trial->runtime) != 0)
        abort();
    for (uint32_t i = 0; i < SUBJECT_CALLERS; i++)
        if (pthread_create(&trial->threads[i], NULL, run_caller, trial) != 0)
            abort();
}

static void finish(struct trial *trial)
{
    atomic_store(&trial->round, UINT64_MAX);
    for (uint32_t i = 0; i < SUBJECT_CALLERS; i++)
        pthread_join(trial->threads[i], NULL);
    if (runtime_stop(trial->runtime) != 0)
        abort();
    runtime_destroy(trial->runtime);
    gate_finish(&trial->held);
}

int main(int count, char **arguments)
{
    static struct trial trial;
    uint64_t first = 1, histories = 1000;

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
        if (!try_one(&trial, seed))
            return 1;
    finish(&trial);
    return 0;
}
