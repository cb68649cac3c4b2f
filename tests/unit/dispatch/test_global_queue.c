/* SPDX-License-Identifier: MIT */
/*
 * Goal: the shared queue is first in first out, and a taker may move a batch to its ring, no more
 * than fits.
 *
 * Method: one thread, a ring of 2 and one of 4.
 */
#include "dispatch/global_queue.h"

#include "dispatch/ring.h"
#include "dispatch/schedulable.h"
#include "unit/host/suite.h"

struct fixture {
    struct global_queue queue;
    struct ring ring;
    struct schedulable items[6];
};

static void begin(struct fixture *fixture, uint32_t capacity, int count)
{
    global_queue_init(&fixture->queue);
    ring_init(&fixture->ring, capacity);
    for (int i = 0; i < count; i++)
        global_queue_push(&fixture->queue, &fixture->items[i]);
}

static void test_first_in_is_first_out(void)
{
    static struct fixture f;

    begin(&f, 2, 3);
    CU_ASSERT_EQUAL(global_queue_count(&f.queue), 3);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_PTR_EQUAL(global_queue_take(&f.queue, NULL, 5), &f.items[i]);
    CU_ASSERT_PTR_NULL(global_queue_take(&f.queue, NULL, 0));
    global_queue_push(&f.queue, &f.items[0]);
    CU_ASSERT_PTR_EQUAL(global_queue_take(&f.queue, &f.ring, 5), &f.items[0]);
    CU_ASSERT_EQUAL(ring_count(&f.ring), 0);
    global_queue_finish(&f.queue);
}

static void test_batch_moves_to_the_ring_in_order(void)
{
    static struct fixture f;

    begin(&f, 4, 5);
    CU_ASSERT_PTR_EQUAL(global_queue_take(&f.queue, &f.ring, 2), &f.items[0]);
    CU_ASSERT_EQUAL(global_queue_count(&f.queue), 2);
    CU_ASSERT_PTR_EQUAL(ring_pop(&f.ring), &f.items[1]);
    CU_ASSERT_PTR_EQUAL(ring_pop(&f.ring), &f.items[2]);
    CU_ASSERT_PTR_EQUAL(global_queue_take(&f.queue, NULL, 0), &f.items[3]);
    global_queue_finish(&f.queue);
}

static void test_what_does_not_fit_the_ring_stays_first(void)
{
    static struct fixture f;

    begin(&f, 2, 6);
    CU_ASSERT_PTR_EQUAL(global_queue_take(&f.queue, &f.ring, 5), &f.items[0]);
    CU_ASSERT_EQUAL(ring_count(&f.ring), 2);
    CU_ASSERT_EQUAL(global_queue_count(&f.queue), 3);
    CU_ASSERT_PTR_EQUAL(global_queue_take(&f.queue, NULL, 0), &f.items[3]);
    global_queue_finish(&f.queue);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "order", test_first_in_is_first_out },
        { "batch", test_batch_moves_to_the_ring_in_order },
        { "full ring", test_what_does_not_fit_the_ring_stays_first },
        CU_TEST_INFO_NULL,
    };

    return suite_run("global queue", tests);
}
