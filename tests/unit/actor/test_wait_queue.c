/* SPDX-License-Identifier: MIT */
/*
 * Goal: waiters for room are woken first come first served, as many as places were freed; none is
 * woken twice for nothing, and an unused wake-up passes on to the next.
 *
 * Method: workers that never run, so that a wake-up stays visible as a signal in their mailboxes.
 */
#include "actor/wait_queue.h"

#include <stdlib.h>

#include "actor/place.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define COUNT 3u

struct fixture {
    struct rig rig;
    struct wait_queue waiters;
    struct place *places[COUNT];
    struct outbox *boxes[COUNT];
    struct actor actors[COUNT];
    struct executor *executor;
};

static void begin(struct fixture *f)
{
    rig_init(&f->rig, 1, 0);
    f->executor = runtime_enter(f->rig.runtime);
    wait_queue_init(&f->waiters);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (place_create("waiter", i, &f->places[i]) != 0)
            abort();
        f->places[i]->actor = &f->actors[i];
        f->boxes[i] = place_make_outbox(f->places[i]);
        if (!f->boxes[i])
            abort();
        f->actors[i].executor = f->executor;
        f->actors[i].pid = (weir_pid)1 << 32;
        mailbox_init(&f->actors[i].mailbox, 1, 0);
    }
}

static void finish(struct fixture *f)
{
    for (uint32_t i = 0; i < COUNT; i++)
        wait_queue_leave(&f->boxes[i]->waiter, f->executor);
    CU_ASSERT_FALSE(wait_queue_any(&f->waiters));
    wait_queue_finish(&f->waiters);
    for (uint32_t i = 0; i < COUNT; i++)
        place_destroy(f->places[i]);
    runtime_leave(f->executor);
    rig_finish(&f->rig);
}

/* True when the place was woken since the last check. */
static bool is_woken(struct fixture *f, uint32_t index)
{
    return atomic_exchange(&f->actors[index].mailbox.signals, 0) == SIGNAL_ROOM;
}

/* promise O2: it would wait in a line that is freed. */
static void test_who_comes_too_late_is_woken_at_once(void)
{
    static struct fixture f;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_dissolve(&f.waiters, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 1, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 1));
    CU_ASSERT_FALSE(wait_queue_any(&f.waiters));
    CU_ASSERT_PTR_NULL(atomic_load(&f.boxes[1]->waiter.waits_for));
    finish(&f);
}

/* promise O2 */
static void test_first_to_come_is_woken_first(void)
{
    static struct fixture f;

    begin(&f);
    for (uint32_t i = 0; i < COUNT; i++)
        wait_queue_join(&f.waiters, &f.boxes[i]->waiter, 1, f.executor);
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    CU_ASSERT_FALSE(is_woken(&f, 1));
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_FALSE(is_woken(&f, 0)); /* it has been woken already */
    CU_ASSERT_TRUE(is_woken(&f, 1));
    CU_ASSERT_FALSE(is_woken(&f, 2));
    wait_queue_wake(&f.waiters, 9, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 2));
    finish(&f);
}

static void test_waiter_that_joins_again_keeps_its_position(void)
{
    static struct fixture f;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 1, f.executor);
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1,
                    f.executor); /* the room was taken by another */
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    CU_ASSERT_FALSE(is_woken(&f, 1));
    finish(&f);
}

static void test_waiter_that_leaves_is_not_woken(void)
{
    static struct fixture f;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 1, f.executor);
    wait_queue_leave(&f.boxes[0]->waiter, f.executor);
    wait_queue_leave(&f.boxes[0]->waiter, f.executor);
    CU_ASSERT_EQUAL(atomic_load(&f.waiters.count), 1);
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_FALSE(is_woken(&f, 0));
    CU_ASSERT_TRUE(is_woken(&f, 1));
    finish(&f);
}

/* promise O2: the first may go without taking the place that it was woken for. */
static void test_waiter_that_leaves_after_its_wake_up_passes_it_on(void)
{
    static struct fixture f;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 1, f.executor);
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    wait_queue_leave(&f.boxes[0]->waiter, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 1));
    finish(&f);
}

/* promise O2: a wake-up for nothing would let a later one overtake. */
static void test_waiter_that_used_its_wake_up_does_not_pass_it_on(void)
{
    static struct fixture f;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 1, f.executor);
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    wait_queue_use(&f.boxes[0]->waiter, 1);
    wait_queue_wake(&f.waiters, 1, f.executor); /* it has more to send */
    CU_ASSERT_TRUE(is_woken(&f, 0));
    wait_queue_use(&f.boxes[0]->waiter, 1);
    wait_queue_leave(&f.boxes[0]->waiter, f.executor);
    CU_ASSERT_FALSE(is_woken(&f, 1));
    finish(&f);
}

/* promise O2: with room for all that the first has, the others find none. */
static void test_places_are_granted_to_the_first_until_it_has_what_it_wants(void)
{
    static struct fixture f;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 5, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 2, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[2]->waiter, 1, f.executor);
    wait_queue_wake(&f.waiters, 4, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 0));
    CU_ASSERT_FALSE(is_woken(&f, 1));
    wait_queue_wake(&f.waiters, 2, f.executor);
    CU_ASSERT_FALSE(is_woken(&f, 0)); /* it has been woken already, and looks for all of them */
    CU_ASSERT_TRUE(is_woken(&f, 1));
    CU_ASSERT_FALSE(is_woken(&f, 2));
    wait_queue_use(&f.boxes[0]->waiter, 3);
    wait_queue_leave(&f.boxes[0]->waiter, f.executor); /* two of its five are left over */
    CU_ASSERT_FALSE(is_woken(&f, 1));
    CU_ASSERT_TRUE(is_woken(&f, 2));
    finish(&f);
}

static void test_joining_elsewhere_leaves_where_one_waited(void)
{
    static struct fixture f;
    struct wait_queue other;

    begin(&f);
    wait_queue_init(&other);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_join(&other, &f.boxes[0]->waiter, 1, f.executor);
    CU_ASSERT_FALSE(wait_queue_any(&f.waiters));
    CU_ASSERT_TRUE(wait_queue_any(&other));
    wait_queue_leave(&f.boxes[0]->waiter, f.executor);
    CU_ASSERT_FALSE(wait_queue_any(&other));
    wait_queue_finish(&other);
    finish(&f);
}

/* promise O2: it had found a place by itself; the one that is granted then is another one. */
static void test_place_that_is_granted_after_the_send_is_passed_on(void)
{
    static struct fixture f;
    uint32_t granted;

    begin(&f);
    wait_queue_join(&f.waiters, &f.boxes[0]->waiter, 1, f.executor);
    wait_queue_join(&f.waiters, &f.boxes[1]->waiter, 1, f.executor);
    granted = wait_queue_granted(&f.boxes[0]->waiter);
    wait_queue_wake(&f.waiters, 1, f.executor);
    CU_ASSERT_EQUAL(granted, 0);
    CU_ASSERT_EQUAL(wait_queue_granted(&f.boxes[0]->waiter), 1);
    wait_queue_use(&f.boxes[0]->waiter, granted);
    CU_ASSERT_FALSE(is_woken(&f, 1));
    wait_queue_leave(&f.boxes[0]->waiter, f.executor);
    CU_ASSERT_TRUE(is_woken(&f, 1));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "granted after the send", test_place_that_is_granted_after_the_send_is_passed_on },
        { "too late", test_who_comes_too_late_is_woken_at_once },
        { "first come", test_first_to_come_is_woken_first },
        { "joins again", test_waiter_that_joins_again_keeps_its_position },
        { "leaves", test_waiter_that_leaves_is_not_woken },
        { "passes on", test_waiter_that_leaves_after_its_wake_up_passes_it_on },
        { "used", test_waiter_that_used_its_wake_up_does_not_pass_it_on },
        { "granted", test_places_are_granted_to_the_first_until_it_has_what_it_wants },
        { "elsewhere", test_joining_elsewhere_leaves_where_one_waited },
        CU_TEST_INFO_NULL,
    };

    return suite_run("wait_queue", tests);
}
