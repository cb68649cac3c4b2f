/* SPDX-License-Identifier: MIT */
/*
 * Goal: a thread whose work is only refused senders steals from the other threads, and in the end
 * leaves its senders to them. No work stays undone.
 *
 * Method: executors without threads, of which the test takes the steps. Then threads that are held
 * inside a turn while the clock moves, without a timekeeper.
 */
#include "dispatch/futility.h"

#include <sched.h>

#include "dispatch/theft.h"
#include "unit/dispatch/stage.h"
#include "unit/host/suite.h"

#define STEPS_MAX 1000u /* a theft needs two rounds */
#define TRIES_MAX 5000000u
#define RUNS_MANY 200u

static enum turn refused(struct job *job, struct executor *executor)
{
    if (atomic_load(&job->stage->has_room))
        return TURN_IDLE;
    executor_give_way(executor);
    return TURN_AGAIN;
}

/* promise D19: the second thread is never without work of its own. */
static void test_thread_of_refused_senders_takes_over_other_work(void)
{
    static struct stage s;
    uint32_t steps = 0;

    stage_begin(&s);
    s.jobs[0].act = stage_scatter;
    s.jobs[10].act = refused;
    s.jobs[11].act = refused;
    stage_submit(&s, 10);
    stage_submit(&s, 11);
    CU_ASSERT_TRUE(stage_step(&s, 1));
    CU_ASSERT_TRUE(stage_step(&s, 1));
    stage_queue(&s, 1, 1);
    while (s.jobs[1].runs == 0 && steps++ < STEPS_MAX) {
        CU_ASSERT_TRUE(stage_step(&s, 1));
        stage_advance(&s, THEFT_AGE_NS / 10);
    }
    CU_ASSERT_EQUAL(s.jobs[1].ran_on, 1);
    CU_ASSERT_EQUAL(dispatcher_steals(s.dispatcher), 1);
    stage_finish(&s);
}

static enum turn hold(struct job *job, struct executor *executor)
{
    (void)executor;
    (void)gate_pass(&job->stage->gate);
    return TURN_IDLE;
}

/* Waits until so many threads are parked, while the clock moves. */
static bool parked_at_last(struct stage *stage, uint32_t count)
{
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        if (idle_parked_count(&stage->dispatcher->idle) == count)
            return true;
        stage_advance(stage, 1000);
        sched_yield();
    }
    return false;
}

static bool runs_at_last(struct stage *stage, uint32_t index, uint32_t runs)
{
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        if (atomic_load(&stage->jobs[index].runs) >= runs)
            return true;
        stage_advance(stage, 1000);
        sched_yield();
    }
    return false;
}

/* promise D19 */
static void test_refused_sender_waits_without_a_thread_until_there_is_room(void)
{
    static struct stage s;
    uint32_t runs;

    stage_begin(&s);
    s.jobs[0].act = hold;
    s.jobs[1].act = refused;
    CU_ASSERT_EQUAL(dispatcher_start(s.dispatcher), 0);
    stage_submit(&s, 0);
    CU_ASSERT_TRUE(gate_await(&s.gate, 1));
    stage_submit(&s, 1);
    CU_ASSERT_TRUE(runs_at_last(&s, 1, 1));
    CU_ASSERT_TRUE(parked_at_last(&s, 1));
    runs = atomic_load(&s.jobs[1].runs);
    CU_ASSERT_EQUAL(global_queue_count(&s.dispatcher->global), 1);
    atomic_store(&s.has_room, true);
    gate_open(&s.gate); /* who made room runs on, and takes it */
    CU_ASSERT_TRUE(runs_at_last(&s, 1, runs + 1));
    stage_finish(&s);
}

/* promise D19: a refused sender that no other thread would take goes on where it is. */
static void test_refused_sender_goes_on_while_all_other_threads_sleep(void)
{
    static struct stage s;

    stage_begin(&s);
    s.jobs[1].act = refused;
    CU_ASSERT_EQUAL(dispatcher_start(s.dispatcher), 0);
    CU_ASSERT_TRUE(parked_at_last(&s, 2));
    stage_submit(&s, 1);
    CU_ASSERT_TRUE(runs_at_last(&s, 1, RUNS_MANY));
    atomic_store(&s.has_room, true);
    CU_ASSERT_TRUE(parked_at_last(&s, 2));
    stage_finish(&s);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "takes over", test_thread_of_refused_senders_takes_over_other_work },
        { "waits", test_refused_sender_waits_without_a_thread_until_there_is_room },
        { "goes on", test_refused_sender_goes_on_while_all_other_threads_sleep },
        CU_TEST_INFO_NULL,
    };

    return suite_run("futility", tests);
}
