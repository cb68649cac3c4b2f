/* SPDX-License-Identifier: MIT */
/*
 * Goal: a stop now ends workers after their present message; waiting messages are dead, requesters
 * get a status, and the ledger balances.
 *
 * Method: pools, a pool of pools, an actor and a source whose workers wait at a gate with a
 * backlog; the gate opens after the stop.
 */
#include "unit/embed/hand.h"
#include "unit/host/suite.h"

/* One message in each worker's hand, and the mailboxes full. */
static void fill(struct hand *hand, weir_pid pid, uint32_t workers, uint32_t waiting)
{
    for (uint32_t i = 0; i < workers; i++)
        CU_ASSERT_EQUAL(hand_send(hand, pid, (struct hand_order){ hand_wait, 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&hand->gate, workers));
    for (uint32_t i = 0; i < waiting; i++)
        CU_ASSERT_EQUAL(hand_send(hand, pid, (struct hand_order){ NULL, 100 }), 0);
}

static void expect_ended(struct hand *hand, weir_pid pid, uint32_t done, uint32_t dead)
{
    struct weir_ledger ledger;

    gate_open(&hand->gate);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand->runtime, pid, wait_limit_ms()), 0);
    ledger = hand_ledger(hand, 0); /* of all there ever was: the part is forgotten */
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.dead, dead);
    CU_ASSERT_TRUE(atomic_load(&hand->sum) < 100); /* nothing of the backlog was begun */
}

/* promise E9 */
static void test_pool_that_is_stopped_now_begins_nothing(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference = 0;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 2, 4);
    fill(&hand, pid, 2, 7);
    CU_ASSERT_EQUAL(
        weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                             hand_message(&hand, (struct hand_order){ hand_reply, 100 }),
                             wait_limit_ms(), &reference),
        0);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(hand.runtime, pid), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ NULL, 100 }), WEIR_ECLOSED);
    expect_ended(&hand, pid, 2, 8);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &answer), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(atomic_load(&hand.closed), 2);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(hand.runtime, pid), WEIR_EUNKNOWN);
    hand_finish(&hand);
}

/* promise E9 */
static void test_pool_that_drains_can_be_stopped_now(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    fill(&hand, pid, 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_close(hand.runtime, pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(hand.runtime, pid), 0);
    expect_ended(&hand, pid, 1, 4);
    hand_finish(&hand);
}

/* promise E9 */
static void test_pool_of_pools_is_stopped_with_all_below(void)
{
    struct weir_pool_options outer = WEIR_POOL_OPTIONS;
    struct weir_pool_options inner;
    struct hand hand;
    weir_pid pid = 0, below = 0;

    hand_begin(&hand, 1);
    outer.path = "outer";
    outer.workers = 0;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &outer, &pid), 0);
    inner = hand_pool_options(&hand, "outer/inner");
    inner.parent = pid;
    inner.workers = 1;
    inner.limit = 4;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &inner, &below), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, below, wait_limit_ms()), 0);
    fill(&hand, pid, 1, 3);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(hand.runtime, pid), 0);
    expect_ended(&hand, pid, 1, 3);
    hand_finish(&hand);
}

/* promise E9 */
static void test_actor_that_is_stopped_now_begins_nothing(void)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;
    struct hand hand;
    weir_pid pid = 0;

    hand_begin(&hand, 1);
    options.behaviour = &hand.behaviour;
    options.settings = &hand;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_actor(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pid, wait_limit_ms()), 0);
    fill(&hand, pid, 1, 5);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(hand.runtime, pid), 0);
    expect_ended(&hand, pid, 1, 5);
    hand_finish(&hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "pool", test_pool_that_is_stopped_now_begins_nothing },
        { "draining", test_pool_that_drains_can_be_stopped_now },
        { "nested", test_pool_of_pools_is_stopped_with_all_below },
        { "actor", test_actor_that_is_stopped_now_begins_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("stop now", tests);
}
