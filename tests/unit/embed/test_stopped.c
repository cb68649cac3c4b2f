/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool whose workers have stopped lets nobody wait for nothing: not a thread that waits for
 * its workers, and not a taker of its group. A pool or a group that has no workers refuses.
 *
 * Method: workers that fail twice stop. Each kind of wait stands before, or comes after the last
 * worker has gone, and must end without its time-out.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

static struct weir_pool_options options_of(struct hand *hand, const char *path)
{
    struct weir_pool_options options = hand_pool_options(hand, path);

    options.restart_max = 1;
    options.restart_backoff_ms_min = options.restart_backoff_ms_max = 1;
    options.restart_then = WEIR_RESTART_STOP;
    options.workers_max = 4;
    return options;
}

static weir_pid add(struct hand *hand, const struct weir_pool_options *options)
{
    weir_pid pid = 0;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand->runtime, options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, pid, wait_limit_ms()), 0);
    return pid;
}

static weir_pid first_worker(struct hand *hand, weir_pid pool)
{
    struct weir_member member;
    uint32_t count;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_members(hand->runtime, pool, &member, 1, &count), 0);
    return member.pid;
}

/* Fails the first worker of the pool until it has stopped. */
static void stop_worker(struct hand *hand, weir_pid pool)
{
    weir_pid worker = first_worker(hand, pool);

    for (uint32_t ms = 0; ms < wait_limit_ms() && hand_stats(hand, pool).stopped == 0; ms++) {
        (void)hand_send(hand, worker, (struct hand_order){ hand_fail, 0 });
        (void)poll(NULL, 0, 1);
    }
    CU_ASSERT_EQUAL(hand_stats(hand, pool).stopped, 1);
}

/* --- threads that wait for workers ------------------------------------------------------------ */

/* promise P13: a stopped worker does not open any more, so nobody waits for it. */
static void test_stopped_worker_is_not_waited_for(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pool;

    hand_begin(&hand, 2);
    options = options_of(&hand, "pool");
    pool = add(&hand, &options);
    stop_worker(&hand, pool);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pool, wait_limit_ms()), WEIR_ECRASHED);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, pool, 2, wait_limit_ms(), NULL), 0);
    CU_ASSERT_EQUAL(hand_stats(&hand, pool).live, 1);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pool, wait_limit_ms()), WEIR_ECRASHED);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, pool, 1, wait_limit_ms(), NULL), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pool, wait_limit_ms()), 0);
    hand_finish(&hand);
}

struct waiter {
    struct hand *hand;
    weir_pid pool;
    int status;
};

static void *wait_open(void *context)
{
    struct waiter *waiter = context;

    waiter->status = weir_runtime_wait_open(waiter->hand->runtime, waiter->pool, wait_limit_ms());
    return NULL;
}

static int open_at_gate(struct weir_self *self, const void *settings, void *state)
{
    struct hand *hand = (struct hand *)(uintptr_t)settings;

    (void)self;
    *(struct hand **)state = hand;
    return atomic_load(&hand->noted) == 0 || gate_pass(&hand->gate) ? 0 : WEIR_EFULL;
}

static int fail_after_gate(struct weir_self *self, struct hand *hand,
                           const struct weir_message *message)
{
    return gate_pass(&hand->gate) ? hand_fail(self, hand, message) : WEIR_DONE;
}

/* promise P13: also when it stops during the wait: the second worker does not open meanwhile. */
static void test_worker_that_stops_ends_a_wait(void)
{
    struct weir_pool_options options;
    struct waiter waiter;
    struct hand hand;
    pthread_t thread;

    hand_begin(&hand, 2);
    hand.behaviour.open = open_at_gate;
    options = options_of(&hand, "pool");
    waiter = (struct waiter){ &hand, add(&hand, &options), 1 };
    CU_ASSERT_EQUAL(hand_send(&hand, waiter.pool, (struct hand_order){ hand_fail, 0 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, waiter.pool, (struct hand_order){ fail_after_gate, 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    atomic_store(&hand.noted, 1); /* the second worker comes to the gate */
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, waiter.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2));
    CU_ASSERT_EQUAL(pthread_create(&thread, NULL, wait_open, &waiter), 0);
    gate_admit(&hand.gate, 1);
    (void)pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(waiter.status, WEIR_ECRASHED);
    gate_open(&hand.gate);
    hand_finish(&hand);
}

/* --- takers -------------------------------------------------------------------------------- */

static struct weir_pool_options lease_options(struct hand *hand, const char *path, weir_pid group)
{
    struct weir_pool_options options = options_of(hand, path);

    options.lease = 1;
    options.parent = group;
    return options;
}

/* A group of two pools with one worker each. */
static weir_pid add_group(struct hand *hand, weir_pid pools[2])
{
    static const char *const paths[] = { "group/a", "group/b" };
    struct weir_pool_options options = lease_options(hand, "group", 0);
    weir_pid group;

    options.behaviour = NULL;
    options.workers = options.workers_max = 0;
    options.route = WEIR_ROUTE_LEAST_LOADED;
    group = add(hand, &options);
    for (int i = 0; i < 2; i++) {
        options = lease_options(hand, paths[i], group);
        pools[i] = add(hand, &options);
    }
    return group;
}

static int take(struct hand *hand, weir_pid pool, struct weir_lease *lease)
{
    return weir_runtime_take(hand->runtime, pool, wait_limit_ms(), lease);
}

/* promise P13: one pool of the group has stopped, and the other one closes while it is used. */
static void test_taker_of_a_group_does_not_wait_for_a_pool_that_closes(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_lease lease, none;
    weir_pid group, pools[2];
    uint64_t reference;
    struct hand hand;

    hand_begin(&hand, 2);
    group = add_group(&hand, pools);
    stop_worker(&hand, pools[0]);
    CU_ASSERT_EQUAL(take(&hand, group, &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_take_request(hand.runtime, group, wait_limit_ms(), &reference), 0);
    CU_ASSERT_EQUAL(weir_runtime_close(hand.runtime, pools[1]), 0);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &answer), WEIR_ECRASHED);
    CU_ASSERT_EQUAL(take(&hand, group, &none), WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_runtime_return(hand.runtime, &lease, WEIR_DONE), 0);
    hand_finish(&hand);
}

enum state { EMPTY, STOPPED, PAUSED, STATES };

static void put_into(struct hand *hand, weir_pid pool, enum state state)
{
    if (state == STOPPED) {
        stop_worker(hand, pool);
        return;
    }
    CU_ASSERT_EQUAL(state == PAUSED ? weir_runtime_pause(hand->runtime, pool)
                                    : weir_runtime_resize(hand->runtime, pool, 0, NULL),
                    0);
}

/* promises P10 and P13: no pool of the group has workers that take; each one works again. */
static void test_group_without_workers_refuses(void)
{
    for (int i = 0; i < STATES * STATES; i++) {
        struct weir_lease lease;
        weir_pid group, pools[2];
        struct hand hand;

        hand_begin(&hand, 2);
        group = add_group(&hand, pools);
        put_into(&hand, pools[0], i / STATES);
        CU_ASSERT_EQUAL(take(&hand, group, &lease), 0);
        CU_ASSERT_EQUAL(weir_runtime_return(hand.runtime, &lease, WEIR_DONE), 0);
        put_into(&hand, pools[1], i % STATES);
        CU_ASSERT_EQUAL(take(&hand, group, &lease), WEIR_EFULL);
        CU_ASSERT_EQUAL(weir_runtime_resume(hand.runtime, pools[1]), 0);
        CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, pools[1], 2, NULL), 0);
        CU_ASSERT_EQUAL(take(&hand, group, &lease), 0);
        CU_ASSERT_EQUAL(weir_runtime_return(hand.runtime, &lease, WEIR_DONE), 0);
        hand_finish(&hand);
    }
}

/* promise P10: a pool that may scale itself, but does not, refuses too; then it grows. */
static void test_suspended_pool_without_workers_refuses(void)
{
    for (int stops = 0; stops < 2; stops++) {
        struct weir_pool_options options;
        struct weir_lease lease;
        struct hand hand;
        weir_pid pool;

        hand_begin(&hand, 2);
        options = lease_options(&hand, "pool", 0);
        options.scale = WEIR_SCALE_ON_DEMAND;
        pool = add(&hand, &options);
        CU_ASSERT_EQUAL(
            weir_runtime_resize_wait(hand.runtime, pool, (uint32_t)stops, wait_limit_ms(), NULL),
            0);
        if (stops)
            stop_worker(&hand, pool);
        CU_ASSERT_EQUAL(take(&hand, pool, &lease), WEIR_EFULL);
        CU_ASSERT_EQUAL(weir_runtime_scale_auto(hand.runtime, pool), 0);
        CU_ASSERT_EQUAL(take(&hand, pool, &lease), 0);
        CU_ASSERT_EQUAL(weir_runtime_return(hand.runtime, &lease, WEIR_DONE), 0);
        hand_finish(&hand);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "waits", test_stopped_worker_is_not_waited_for },
        { "stops meanwhile", test_worker_that_stops_ends_a_wait },
        { "taker of a group", test_taker_of_a_group_does_not_wait_for_a_pool_that_closes },
        { "group without workers", test_group_without_workers_refuses },
        { "suspended", test_suspended_pool_without_workers_refuses },
        CU_TEST_INFO_NULL,
    };

    return suite_run("stopped", tests);
}
