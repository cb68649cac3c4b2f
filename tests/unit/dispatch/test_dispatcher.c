/* SPDX-License-Identifier: MIT */
/*
 * Goal: a submitted actor runs, on any thread, once for each submission; threads share the work,
 * steal it, pass it on when they are held up, and end at the stop.
 *
 * Method: schedulables of the test's own, which meet at gates inside their turns: what must happen
 * on another thread is waited for by a turn that holds its own.
 */
#include "dispatch/dispatcher.h"

#include <stdalign.h>
#include <stddef.h>

#include "dispatch/schedulable.h"
#include "dispatch/timekeeper.h"
#include "unit/host/suite.h"
#include "unit/support/gate.h"

#include <weir/status.h>

#define MANY 100u

struct stage;

struct job {
    struct schedulable schedulable; /* first */
    struct stage *stage;
    enum turn (*act)(struct job *job, struct executor *executor);
    struct gate gate;
    _Atomic uint32_t runs;
};

struct stage {
    struct reclaim reclaim;
    struct timekeeper *timekeeper;
    struct dispatcher *dispatcher;
    struct executor outside;
    struct job jobs[MANY];
    int status; /* the result of a turn's call */
};

static enum turn run(struct schedulable *schedulable, struct executor *executor)
{
    struct job *job = (struct job *)(void *)schedulable;

    atomic_fetch_add(&job->runs, 1);
    return job->act(job, executor);
}

/* Reports that it ran. */
static enum turn arrive(struct job *job, struct executor *executor)
{
    (void)executor;
    (void)gate_pass(&job->gate);
    return TURN_IDLE;
}

/* Only the threads themselves move queued work. */
static void begin_without_beats(struct stage *stage, uint32_t threads, uint32_t capacity)
{
    struct dispatcher_options options = { .name = "stage",
                                          .threads = threads,
                                          .ring_capacity = capacity,
                                          .reclaim = &stage->reclaim,
                                          .clock = clock_monotonic() };

    reclaim_init(&stage->reclaim);
    CU_ASSERT_EQUAL(timekeeper_create(NULL, &stage->reclaim, options.clock, &stage->timekeeper), 0);
    options.doze = timekeeper_doze(stage->timekeeper);
    CU_ASSERT_EQUAL(dispatcher_create(&options, &stage->dispatcher), 0);
    CU_ASSERT_EQUAL(executor_init(&stage->outside, NULL, NULL, &stage->reclaim, options.clock), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        stage->jobs[i] = (struct job){ .schedulable = { .run = run },
                                       .stage = stage,
                                       .act = arrive };
        gate_init(&stage->jobs[i].gate);
        gate_open(&stage->jobs[i].gate);
    }
    CU_ASSERT_EQUAL(timekeeper_watch(stage->timekeeper, stage->dispatcher), 0);
    CU_ASSERT_EQUAL(dispatcher_start(stage->dispatcher), 0);
}

static void begin(struct stage *stage, uint32_t threads, uint32_t capacity)
{
    begin_without_beats(stage, threads, capacity);
    CU_ASSERT_EQUAL(timekeeper_start(stage->timekeeper), 0);
}

static void finish(struct stage *stage)
{
    timekeeper_stop(stage->timekeeper);
    dispatcher_signal_stop(stage->dispatcher);
    CU_ASSERT_EQUAL(dispatcher_join(stage->dispatcher), 0);
    timekeeper_destroy(stage->timekeeper);
    dispatcher_destroy(stage->dispatcher);
    executor_finish(&stage->outside);
    for (uint32_t i = 0; i < MANY; i++)
        gate_finish(&stage->jobs[i].gate);
    reclaim_finish(&stage->reclaim);
}

static void submit(struct stage *stage, uint32_t index)
{
    executor_submit(&stage->outside, stage->dispatcher, &stage->jobs[index].schedulable);
}

static void test_submitted_jobs_run_once_each(void)
{
    static struct stage s;

    begin(&s, 2, 0);
    for (uint32_t i = 0; i < MANY; i++)
        submit(&s, i);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_TRUE(gate_await(&s.jobs[i].gate, 1));
    finish(&s);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(atomic_load(&s.jobs[i].runs), 1);
}

/* promise D1 */
static void test_two_jobs_are_inside_their_turns_at_once(void)
{
    static struct stage s;

    begin(&s, 2, 0);
    gate_shut(&s.jobs[0].gate);
    gate_shut(&s.jobs[1].gate);
    submit(&s, 0);
    submit(&s, 1);
    CU_ASSERT_TRUE(gate_await(&s.jobs[0].gate, 1));
    CU_ASSERT_TRUE(gate_await(&s.jobs[1].gate, 1));
    gate_open(&s.jobs[0].gate);
    gate_open(&s.jobs[1].gate);
    finish(&s);
}

/* Puts two jobs into this thread's queues, and ends when the first has run elsewhere. */
static enum turn share(struct job *job, struct executor *executor)
{
    struct stage *stage = job->stage;

    executor_submit(executor, stage->dispatcher, &stage->jobs[1].schedulable);
    executor_submit(executor, stage->dispatcher, &stage->jobs[2].schedulable);
    (void)gate_await(&stage->jobs[1].gate, 1);
    return TURN_IDLE;
}

/* promise D2 */
static void test_job_behind_a_held_turn_is_stolen(void)
{
    static struct stage s;

    begin_without_beats(&s, 2, 0); /* a beat may be faster than the thief */
    s.jobs[0].act = share;
    submit(&s, 0);
    CU_ASSERT_TRUE(gate_await(&s.jobs[1].gate, 1));
    CU_ASSERT_TRUE(gate_await(&s.jobs[2].gate, 1));
    CU_ASSERT_TRUE(dispatcher_steals(s.dispatcher) > 0);
    finish(&s);
}

/* As share, with one job, which lies in the slot of what runs next. */
static enum turn keep_next(struct job *job, struct executor *executor)
{
    struct stage *stage = job->stage;

    executor_submit(executor, stage->dispatcher, &stage->jobs[1].schedulable);
    (void)gate_await(&stage->jobs[1].gate, 1);
    return TURN_IDLE;
}

/* promise D2 */
static void test_job_in_the_slot_behind_a_held_turn_is_rescued(void)
{
    static struct stage s;

    begin(&s, 2, 0);
    s.jobs[0].act = keep_next;
    submit(&s, 0);
    CU_ASSERT_TRUE(gate_await(&s.jobs[1].gate, 1));
    finish(&s);
    CU_ASSERT_EQUAL(atomic_load(&s.jobs[1].runs), 1);
}

#define TURNS_MAX 100000u

static atomic_bool other_waits;
static atomic_uint turns_beside_it;

/* Takes turn after turn until the other one has had its own. */
static enum turn again(struct job *job, struct executor *executor)
{
    bool is_over = atomic_load(&other_waits) && atomic_fetch_add(&turns_beside_it, 1) == TURNS_MAX;

    if (atomic_load(&job->stage->jobs[1].runs) > 0 || is_over)
        return arrive(job, executor);
    return TURN_AGAIN;
}

/* promise D3 */
static void test_job_without_end_lets_others_run(void)
{
    static struct stage s;

    begin(&s, 1, 0);
    s.jobs[0].act = again;
    submit(&s, 0);
    submit(&s, 1);
    atomic_store(&other_waits, true);
    CU_ASSERT_TRUE(gate_await(&s.jobs[1].gate, 1));
    CU_ASSERT_TRUE(gate_await(&s.jobs[0].gate, 1));
    finish(&s);
    CU_ASSERT_TRUE(atomic_load(&turns_beside_it) < TURNS_MAX);
}

static enum turn submit_all(struct job *job, struct executor *executor)
{
    struct stage *stage = job->stage;

    for (uint32_t i = 1; i < MANY; i++)
        executor_submit(executor, stage->dispatcher, &stage->jobs[i].schedulable);
    return TURN_IDLE;
}

static void test_full_ring_overflows_to_all_threads(void)
{
    static struct stage s;

    begin(&s, 2, 2);
    s.jobs[0].act = submit_all;
    submit(&s, 0);
    for (uint32_t i = 1; i < MANY; i++)
        CU_ASSERT_TRUE(gate_await(&s.jobs[i].gate, 1));
    finish(&s);
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(atomic_load(&s.jobs[i].runs), 1);
}

static enum turn stop_from_inside(struct job *job, struct executor *executor)
{
    dispatcher_signal_stop(job->stage->dispatcher);
    job->stage->status = dispatcher_join(job->stage->dispatcher);
    return arrive(job, executor);
}

static void test_join_on_its_own_thread_is_refused(void)
{
    static struct stage s;

    begin(&s, 2, 0);
    s.jobs[0].act = stop_from_inside;
    submit(&s, 0);
    CU_ASSERT_TRUE(gate_await(&s.jobs[0].gate, 1));
    finish(&s);
    CU_ASSERT_EQUAL(s.status, WEIR_EDEADLK);
}

static void test_impossible_options_are_refused(void)
{
    struct reclaim *reclaim = NULL;
    struct dispatcher *dispatcher = NULL;
    struct dispatcher_options good = {
        .name = "a", .threads = 1, .reclaim = reclaim, .clock = clock_monotonic()
    };
    struct dispatcher_options bad = good;

    bad.threads = 0;
    CU_ASSERT_EQUAL(dispatcher_create(&bad, &dispatcher), WEIR_EINVALID);
    bad.threads = IDLE_THREADS_MAX + 1;
    CU_ASSERT_EQUAL(dispatcher_create(&bad, &dispatcher), WEIR_EINVALID);
    bad = good;
    bad.ring_capacity = 3;
    CU_ASSERT_EQUAL(dispatcher_create(&bad, &dispatcher), WEIR_EINVALID);
    bad.ring_capacity = RING_CAPACITY * 2;
    CU_ASSERT_EQUAL(dispatcher_create(&bad, &dispatcher), WEIR_EINVALID);
    bad = good;
    bad.name = "a name that is longer than thirty-one letters";
    CU_ASSERT_EQUAL(dispatcher_create(&bad, &dispatcher), WEIR_EINVALID);
    CU_ASSERT_PTR_NULL(dispatcher);
    dispatcher_destroy(NULL);
}

#define LINE 64u
#define LINE_OF(field) (offsetof(struct dispatcher, field) / LINE)

/* A thread that writes one group of fields takes no line away from the readers of another. */
static void test_fields_of_different_writers_share_no_line(void)
{
    const size_t lines[] = { LINE_OF(slot_count), LINE_OF(users_begun), LINE_OF(global),
                             LINE_OF(timers),     LINE_OF(idle),        LINE_OF(idle.counts),
                             LINE_OF(beat),       LINE_OF(lock) };

    for (size_t i = 1; i < sizeof lines / sizeof *lines; i++)
        CU_ASSERT_TRUE(lines[i - 1] < lines[i]);
    CU_ASSERT_EQUAL(alignof(struct dispatcher), LINE);
    CU_ASSERT_EQUAL(LINE_OF(thread_count), LINE_OF(slot_count));
    CU_ASSERT_EQUAL(LINE_OF(rests), LINE_OF(slot_count));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once each", test_submitted_jobs_run_once_each },
        { "two at once", test_two_jobs_are_inside_their_turns_at_once },
        { "stolen", test_job_behind_a_held_turn_is_stolen },
        { "rescued", test_job_in_the_slot_behind_a_held_turn_is_rescued },
        { "without end", test_job_without_end_lets_others_run },
        { "overflow", test_full_ring_overflows_to_all_threads },
        { "join inside", test_join_on_its_own_thread_is_refused },
        { "lines", test_fields_of_different_writers_share_no_line },
        { "options", test_impossible_options_are_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("dispatcher", tests);
}
