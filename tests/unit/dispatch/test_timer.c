/* SPDX-License-Identifier: MIT */
/*
 * Goal: timers fire when they are due and never before, in order, unless they were moved or
 * disarmed.
 *
 * Method: time is a number that the test passes in; a shuffled set of deadlines.
 */
#include "dispatch/timer.h"

#include <stddef.h>

#include "unit/host/suite.h"

#define COUNT 200u

struct alarm_clock {
    struct timer timer; /* first */
    uint64_t wanted_ns;
    uint32_t fired;
};

struct fixture {
    struct timers timers;
    struct alarm_clock clocks[COUNT];
};

/* The order of firing, written by `fire`. */
static struct alarm_clock *rung[COUNT];
static uint32_t rung_count;

static void fire(struct timer *timer, struct executor *executor)
{
    struct alarm_clock *clock = (struct alarm_clock *)(void *)timer;

    (void)executor;
    clock->fired++;
    if (rung_count < COUNT)
        rung[rung_count++] = clock;
}

static void begin(struct fixture *fixture)
{
    rung_count = 0;
    timers_init(&fixture->timers);
    for (uint32_t i = 0; i < COUNT; i++) {
        fixture->clocks[i] = (struct alarm_clock){ .timer = { .fire = fire } };
        CU_ASSERT_EQUAL(timers_reserve(&fixture->timers), 0);
    }
}

static void finish(struct fixture *fixture)
{
    for (uint32_t i = 0; i < COUNT; i++)
        timers_release(&fixture->timers);
    timers_finish(&fixture->timers);
}

static void arm(struct fixture *fixture, uint32_t index, uint64_t due_ns)
{
    fixture->clocks[index].wanted_ns = due_ns;
    (void)timers_arm(&fixture->timers, &fixture->clocks[index].timer, due_ns);
}

static void expire_all(struct fixture *fixture, uint64_t now_ns)
{
    while (timers_expire(&fixture->timers, now_ns, NULL))
        ;
}

/* promise A6 */
static void test_timer_fires_when_due_and_not_before(void)
{
    static struct fixture f;

    begin(&f);
    arm(&f, 0, 100);
    expire_all(&f, 99);
    CU_ASSERT_EQUAL(f.clocks[0].fired, 0);
    expire_all(&f, 100);
    CU_ASSERT_EQUAL(f.clocks[0].fired, 1);
    expire_all(&f, 1000);
    CU_ASSERT_EQUAL(f.clocks[0].fired, 1);
    CU_ASSERT_EQUAL(atomic_load(&f.timers.next_due_ns), TIMER_NEVER);
    finish(&f);
}

static void test_earliest_is_reported_and_published(void)
{
    static struct fixture f;

    begin(&f);
    CU_ASSERT_TRUE(timers_arm(&f.timers, &f.clocks[0].timer, 50));
    CU_ASSERT_FALSE(timers_arm(&f.timers, &f.clocks[1].timer, 60));
    CU_ASSERT_TRUE(timers_arm(&f.timers, &f.clocks[2].timer, 40));
    CU_ASSERT_EQUAL(atomic_load(&f.timers.next_due_ns), 40);
    timers_disarm(&f.timers, &f.clocks[2].timer);
    CU_ASSERT_EQUAL(atomic_load(&f.timers.next_due_ns), 50);
    timers_disarm(&f.timers, &f.clocks[2].timer);
    CU_ASSERT_EQUAL(f.timers.count, 2);
    finish(&f);
}

static void test_shuffled_deadlines_fire_in_order(void)
{
    static struct fixture f;

    begin(&f);
    for (uint32_t i = 0; i < COUNT; i++)
        arm(&f, i, (i * 7919u) % 1009u + 1);
    for (uint64_t now = 0; now <= 1010; now++) {
        expire_all(&f, now);
        for (uint32_t i = 0; i < COUNT; i++)
            CU_ASSERT_EQUAL(f.clocks[i].fired, f.clocks[i].wanted_ns <= now);
    }
    for (uint32_t i = 1; i < rung_count; i++)
        CU_ASSERT_TRUE(rung[i - 1]->wanted_ns <= rung[i]->wanted_ns);
    CU_ASSERT_EQUAL(rung_count, COUNT);
    finish(&f);
}

static void test_moved_and_disarmed_timers_keep_the_order(void)
{
    static struct fixture f;

    begin(&f);
    for (uint32_t i = 0; i < COUNT; i++)
        arm(&f, i, 1000 - i);
    for (uint32_t i = 0; i < COUNT; i += 3)
        timers_disarm(&f.timers, &f.clocks[i].timer);
    for (uint32_t i = 1; i < COUNT; i += 3)
        arm(&f, i, 10 + i);
    expire_all(&f, 2000);
    for (uint32_t i = 0; i < COUNT; i++)
        CU_ASSERT_EQUAL(f.clocks[i].fired, i % 3 != 0);
    for (uint32_t i = 1; i < rung_count; i++)
        CU_ASSERT_TRUE(rung[i - 1]->wanted_ns <= rung[i]->wanted_ns);
    finish(&f);
}

/* However many are due at once, whoever arms or disarms one waits for a few of them only. */
static void test_lock_is_let_go_after_some_of_many_that_are_due(void)
{
    static struct fixture f;

    begin(&f);
    for (uint32_t i = 0; i < COUNT; i++)
        arm(&f, i, 1);
    for (uint32_t fired = TIMERS_AT_ONCE; fired < COUNT; fired += TIMERS_AT_ONCE) {
        CU_ASSERT_TRUE(timers_expire(&f.timers, 1, NULL));
        CU_ASSERT_EQUAL(rung_count, fired);
        CU_ASSERT_EQUAL(atomic_load(&f.timers.next_due_ns), 1);
    }
    CU_ASSERT_FALSE(timers_expire(&f.timers, 1, NULL));
    CU_ASSERT_EQUAL(rung_count, COUNT);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "due", test_timer_fires_when_due_and_not_before },
        { "earliest", test_earliest_is_reported_and_published },
        { "shuffled", test_shuffled_deadlines_fire_in_order },
        { "moved", test_moved_and_disarmed_timers_keep_the_order },
        { "many at once", test_lock_is_let_go_after_some_of_many_that_are_due },
        CU_TEST_INFO_NULL,
    };

    return suite_run("timer", tests);
}
