/* SPDX-License-Identifier: MIT */
/*
 * Goal: a turn that takes too long is found once, not before its time. A thread that sleeps, or
 * that begins turn after turn, is never found.
 *
 * Method: a dispatcher of two threads with schedulables that wait before a gate; the times of the
 * looks are made up.
 */
#include "dispatch/watchdog.h"

#include "dispatch/schedulable.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 1000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct watchdog watchdog;
    uint64_t watched;
};

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    f->probe->act = probe_wait;
    rig_init(&f->rig, 2, 1);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 8);
    watchdog_init(&f->watchdog);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static uint32_t look(struct fixture *f, uint64_t now)
{
    return watchdog_check(&f->watchdog, f->rig.dispatcher, now, LIMIT, &f->watched);
}

/* The number of threads that one check reports. */
static uint32_t count_reports(struct fixture *f, uint64_t now)
{
    uint32_t count = 0;

    while (look(f, now) != IDLE_NOBODY)
        count++;
    return count;
}

static bool others_sleep(void *context)
{
    struct fixture *f = context;

    return idle_parked_count(&f->rig.dispatcher->idle) == 1;
}

static bool all_sleep(void *context)
{
    struct fixture *f = context;

    return idle_parked_count(&f->rig.dispatcher->idle) == 2;
}

static void hold(struct fixture *f, uint32_t number)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = number }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, number));
    CU_ASSERT_TRUE(rig_wait(&f->rig, others_sleep, f));
}

/* promise H5 */
static void test_long_turn_is_found_once_and_not_early(void)
{
    struct fixture f;

    begin(&f);
    hold(&f, 1);
    CU_ASSERT_EQUAL(count_reports(&f, 1), 0);
    CU_ASSERT_EQUAL(count_reports(&f, LIMIT), 0);
    CU_ASSERT_EQUAL(count_reports(&f, 1 + LIMIT), 1);
    CU_ASSERT_EQUAL(f.watched, LIMIT);
    CU_ASSERT_EQUAL(count_reports(&f, 10 * LIMIT), 0);
    finish(&f);
}

/* promise H5 */
static void test_next_turn_is_counted_from_its_own_begin(void)
{
    struct fixture f;

    begin(&f);
    hold(&f, 1);
    CU_ASSERT_EQUAL(count_reports(&f, 1), 0);
    gate_admit(&f.probe->gate, 1);
    hold(&f, 2);
    CU_ASSERT_EQUAL(count_reports(&f, 1 + LIMIT), 0);
    CU_ASSERT_EQUAL(count_reports(&f, 2 * LIMIT), 0);
    CU_ASSERT_EQUAL(count_reports(&f, 1 + 2 * LIMIT), 1);
    finish(&f);
}

static void test_threads_that_sleep_are_no_long_turns(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, all_sleep, &f));
    CU_ASSERT_EQUAL(count_reports(&f, 1), 0);
    CU_ASSERT_EQUAL(count_reports(&f, 100 * LIMIT), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once", test_long_turn_is_found_once_and_not_early },
        { "next turn", test_next_turn_is_counted_from_its_own_begin },
        { "sleep", test_threads_that_sleep_are_no_long_turns },
        CU_TEST_INFO_NULL,
    };

    return suite_run("watchdog", tests);
}
