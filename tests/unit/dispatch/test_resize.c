/* SPDX-License-Identifier: MIT */
/*
 * Goal: a dispatcher gets more threads and fewer while it works; what waited behind a thread that
 * leaves is run by the others; one without threads sleeps, and wakes with another name.
 *
 * Method: jobs that meet at gates show how many threads there are, jobs that come back for ever
 * run through a storm of resizes from two threads, and must all come to their end after it.
 */
#include "dispatch/dispatcher.h"

#include "dispatch/schedulable.h"
#include "dispatch/shares.h"
#include "unit/host/suite.h"
#include "unit/support/gate.h"

#include <sched.h>
#include <weir/status.h>

#define JOBS 16u
#define STORM_RESIZES 300
#define RENAMES 10000u
#define GROWTHS 100

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
    struct dispatcher *dispatcher;
    struct executor outside;
    struct job jobs[JOBS];
    _Atomic bool over;
};

static enum turn run(struct schedulable *schedulable, struct executor *executor)
{
    struct job *job = (struct job *)(void *)schedulable;

    atomic_fetch_add(&job->runs, 1);
    return job->act(job, executor);
}

static enum turn arrive(struct job *job, struct executor *executor)
{
    (void)executor;
    (void)gate_pass(&job->gate);
    return TURN_IDLE;
}

static const void *one_party(const struct schedulable *schedulable)
{
    return ((const struct job *)(const void *)schedulable)->stage;
}

static void begin(struct stage *stage, uint32_t threads)
{
    struct dispatcher_options options = { .name = "stage",
                                          .threads = threads,
                                          .reclaim = &stage->reclaim,
                                          .party = one_party,
                                          .clock = clock_monotonic() };

    reclaim_init(&stage->reclaim);
    atomic_init(&stage->over, false);
    CU_ASSERT_EQUAL_FATAL(dispatcher_create(&options, &stage->dispatcher), 0);
    CU_ASSERT_EQUAL(executor_init(&stage->outside, NULL, NULL, &stage->reclaim, options.clock), 0);
    for (uint32_t i = 0; i < JOBS; i++) {
        stage->jobs[i] = (struct job){ .schedulable = { .run = run },
                                       .stage = stage,
                                       .act = arrive };
        gate_init(&stage->jobs[i].gate);
        gate_open(&stage->jobs[i].gate);
    }
    CU_ASSERT_EQUAL(dispatcher_start(stage->dispatcher), 0);
}

static void finish(struct stage *stage)
{
    dispatcher_signal_stop(stage->dispatcher);
    CU_ASSERT_EQUAL(dispatcher_join(stage->dispatcher), 0);
    dispatcher_destroy(stage->dispatcher);
    executor_finish(&stage->outside);
    for (uint32_t i = 0; i < JOBS; i++)
        gate_finish(&stage->jobs[i].gate);
    reclaim_finish(&stage->reclaim);
}

static void submit(struct stage *stage, uint32_t index)
{
    executor_submit(&stage->outside, stage->dispatcher, &stage->jobs[index].schedulable);
}

static void await_running(struct stage *stage, uint32_t threads)
{
    while (atomic_load(&stage->dispatcher->running) != threads)
        (void)sched_yield();
}

/* Holds the first jobs inside their turns, all at once: so many threads there are. */
static void hold(struct stage *stage, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        gate_shut(&stage->jobs[i].gate);
        submit(stage, i);
    }
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_TRUE(gate_await(&stage->jobs[i].gate, 1));
}

static void release(struct stage *stage, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gate_open(&stage->jobs[i].gate);
}

/* promise D5 */
static void test_more_threads_take_up_what_waits(void)
{
    static struct stage s;

    begin(&s, 1);
    hold(&s, 1);
    gate_shut(&s.jobs[1].gate);
    gate_shut(&s.jobs[2].gate);
    submit(&s, 1);
    submit(&s, 2);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 3), 0);
    CU_ASSERT_TRUE(gate_await(&s.jobs[1].gate, 1)); /* while the first is held */
    CU_ASSERT_TRUE(gate_await(&s.jobs[2].gate, 1));
    release(&s, 3);
    finish(&s);
}

/* All threads that are made from now on share a CPU, so a new one may run before its maker goes
 * on. Returns the CPUs of before. */
static cpu_set_t share_a_cpu(void)
{
    cpu_set_t before, one;

    CU_ASSERT_EQUAL(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    return before;
}

/* promises D5 and D20: a party that is alone has the new thread, too. */
static void test_more_threads_take_up_what_waits_in_a_share(void)
{
    cpu_set_t before = share_a_cpu();
    static struct stage s;

    for (uint32_t i = 0; i < GROWTHS; i++) {
        begin(&s, 1);
        shares_set_on(s.dispatcher);
        hold(&s, 1);
        gate_shut(&s.jobs[1].gate);
        submit(&s, 1);
        CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 2), 0);
        CU_ASSERT_TRUE(gate_await(&s.jobs[1].gate, 1));
        release(&s, 2);
        finish(&s);
    }
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof before, &before), 0);
}

/* Puts three jobs into this thread's own queues, and goes on when it is let. */
static enum turn queue_behind_me(struct job *job, struct executor *executor)
{
    for (uint32_t i = 5; i < 8; i++)
        executor_submit(executor, job->stage->dispatcher, &job->stage->jobs[i].schedulable);
    return arrive(job, executor);
}

/*
 * Every thread but one must go while it holds a turn with jobs queued behind it; the one
 * that stays may be any of them, so all queue. promise D5
 */
static void test_jobs_behind_a_thread_that_leaves_run_elsewhere(void)
{
    static struct stage s;

    begin(&s, 4);
    s.jobs[3].act = queue_behind_me;
    hold(&s, 4);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 1), 0);
    release(&s, 4);
    for (uint32_t i = 5; i < 8; i++)
        CU_ASSERT_TRUE(gate_await(&s.jobs[i].gate, 1));
    await_running(&s, 1);
    dispatcher_reap(s.dispatcher);
    submit(&s, 8);
    CU_ASSERT_TRUE(gate_await(&s.jobs[8].gate, 1));
    finish(&s);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(atomic_load(&s.jobs[i].runs), 1);
}

static void test_thread_that_was_to_go_stays_when_it_is_wanted_again(void)
{
    static struct stage s;

    begin(&s, 2);
    hold(&s, 2);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 1), 0);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 2), 0);
    CU_ASSERT_EQUAL(atomic_load(&s.dispatcher->running), 2);
    release(&s, 2);
    finish(&s);
}

static void test_dispatcher_without_threads_sleeps_and_wakes_under_another_name(void)
{
    static struct stage s;

    begin(&s, 3);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 0), 0);
    await_running(&s, 0);
    CU_ASSERT_EQUAL(dispatcher_rename(s.dispatcher, "another"), 0);
    dispatcher_set_policy(s.dispatcher, &(struct dispatcher_policy){ .budget = 7 });
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 2), 0);
    hold(&s, 2);
    release(&s, 2);
    CU_ASSERT_STRING_EQUAL(s.dispatcher->name, "another");
    CU_ASSERT_EQUAL(dispatcher_policy_of(s.dispatcher).budget, 7);
    dispatcher_set_policy(s.dispatcher, NULL);
    CU_ASSERT_EQUAL(dispatcher_policy_of(s.dispatcher).budget, DISPATCHER_BUDGET);
    finish(&s);
}

static void *rename_often(void *argument)
{
    struct stage *stage = argument;

    for (uint32_t i = 0; i < RENAMES; i++)
        (void)dispatcher_rename(stage->dispatcher, i % 2 ? "oddly" : "evens");
    atomic_store(&stage->over, true);
    return NULL;
}

static void test_name_is_read_whole_while_it_changes(void)
{
    static struct stage s;
    char name[DISPATCHER_NAME_MAX];
    pthread_t thread;

    begin(&s, 1);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, rename_often, &s), 0);
    while (!atomic_load(&s.over))
        if (dispatcher_try_name(s.dispatcher, name))
            CU_ASSERT_TRUE(strcmp(name, "oddly") == 0 || strcmp(name, "evens") == 0 ||
                           strcmp(name, "stage") == 0);
    pthread_join(thread, NULL);
    CU_ASSERT_TRUE(dispatcher_try_name(s.dispatcher, name));
    CU_ASSERT_STRING_EQUAL(name, "oddly");
    finish(&s);
}

static void test_impossible_sizes_and_names_change_nothing(void)
{
    static struct stage s;

    begin(&s, 1);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, IDLE_THREADS_MAX + 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(
        dispatcher_rename(s.dispatcher, "a name that is longer than thirty-one letters"),
        WEIR_EINVALID);
    CU_ASSERT_EQUAL(atomic_load(&s.dispatcher->thread_count), 1);
    CU_ASSERT_STRING_EQUAL(s.dispatcher->name, "stage");
    finish(&s);
}

/* --- a storm -------------------------------------------------------------------------------- */

/* Comes back until all is over. */
static enum turn come_back(struct job *job, struct executor *executor)
{
    if (atomic_load(&job->stage->over))
        return arrive(job, executor);
    return TURN_AGAIN;
}

static void *resize_at_random(void *argument)
{
    struct stage *stage = argument;
    uint64_t random = 1 + (uint64_t)(uintptr_t)&random;

    for (int i = 0; i < STORM_RESIZES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        CU_ASSERT_EQUAL(dispatcher_resize(stage->dispatcher, 1 + (uint32_t)(random >> 60) % 6), 0);
        if (i % 16 == 0)
            dispatcher_reap(stage->dispatcher);
    }
    return NULL;
}

/* promise D5 */
static void test_storm_of_resizes_loses_no_job(void)
{
    static struct stage s;
    pthread_t resizers[2];

    begin(&s, 2);
    for (uint32_t i = 0; i < JOBS; i++) {
        s.jobs[i].act = come_back;
        submit(&s, i);
    }
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&resizers[i], NULL, resize_at_random, &s), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(resizers[i], NULL);
    CU_ASSERT_EQUAL(dispatcher_resize(s.dispatcher, 2), 0);
    atomic_store(&s.over, true);
    for (uint32_t i = 0; i < JOBS; i++) /* each of them is still somewhere, and comes to its end */
        CU_ASSERT_TRUE(gate_await(&s.jobs[i].gate, 1));
    await_running(&s, 2);
    finish(&s);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "more threads", test_more_threads_take_up_what_waits },
        { "more threads of a share", test_more_threads_take_up_what_waits_in_a_share },
        { "behind a leaver", test_jobs_behind_a_thread_that_leaves_run_elsewhere },
        { "stays", test_thread_that_was_to_go_stays_when_it_is_wanted_again },
        { "sleeps", test_dispatcher_without_threads_sleeps_and_wakes_under_another_name },
        { "name", test_name_is_read_whole_while_it_changes },
        { "impossible", test_impossible_sizes_and_names_change_nothing },
        { "storm", test_storm_of_resizes_loses_no_job },
        CU_TEST_INFO_NULL,
    };

    return suite_run("dispatcher resize", tests);
}
