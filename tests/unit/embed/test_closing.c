/* SPDX-License-Identifier: MIT */
/*
 * Goal: the order of closing counts every part that uses a pool, however many they are; takers of a
 * group of pools do not wait until the group itself closes; and workers with WEIR_GIVES_UP decide
 * about what they keep, in pools of every kind.
 *
 * Method: a thread shuts the runtime down while a worker stands at a gate, or while a worker is
 * leased. The test goes on when the first parts refuse messages.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define MANY 40u /* more than one block of core/actor/askers.h notes */

static void *shut_down(void *context)
{
    struct hand *hand = context;

    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand->runtime, wait_limit_ms()), 0);
    return NULL;
}

static pthread_t begin_shutdown(struct hand *hand)
{
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, shut_down, hand), 0);
    return thread;
}

static bool comes_to_refuse(struct hand *hand, weir_pid pool)
{
    int status = 0;

    for (uint32_t ms = 0; ms < wait_limit_ms() && status != WEIR_ECLOSED; ms++) {
        status = hand_send(hand, pool, (struct hand_order){ 0 });
        (void)poll(NULL, 0, 1);
    }
    return status == WEIR_ECLOSED;
}

/* --- many askers ------------------------------------------------------------------------------ */

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct hand *hand = *(struct hand **)state;

    atomic_fetch_add(&hand->noted, reply->status == WEIR_ENOREPLY);
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

/* Asks the pool that the order names. */
static int ask(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    const struct hand_order *order = message->data;
    const struct hand_order question = { 0 };
    struct weir_message *asked = weir_message_new(self, NULL, sizeof question);

    (void)hand;
    memcpy(asked->data, &question, sizeof question);
    if (weir_request(self, order->id, asked, wait_limit_ms(), answered, (void *)(uintptr_t)message,
                     NULL) == 0)
        return WEIR_KEEP;
    weir_message_free(self, asked);
    return WEIR_REJECT;
}

static int ask_after_gate(struct weir_self *self, struct hand *hand,
                          const struct weir_message *message)
{
    return gate_pass(&hand->gate) ? ask(self, hand, message) : WEIR_REJECT;
}

static bool are_answered(struct hand *hand, int count)
{
    for (uint32_t ms = 0; ms < wait_limit_ms() && atomic_load(&hand->noted) < count; ms++)
        (void)poll(NULL, 0, 1);
    return atomic_load(&hand->noted) == count;
}

/* promise O5: the last of many pools that have asked one is fed by another pool, so it closes in a
 * later step than the others do. */
static void test_pool_closes_after_each_of_many_that_have_asked_it(void)
{
    struct weir_pool_options options;
    struct weir_binding binding = { 0 };
    struct hand hand;
    weir_pid asked, last;
    pthread_t thread;
    char path[16];

    hand_begin(&hand, 2);
    asked = hand_pool(&hand, "asked", 1, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(path, sizeof path, "user%u", i);
        CU_ASSERT_EQUAL(
            hand_send(&hand, hand_pool(&hand, path, 1, 0), (struct hand_order){ ask, asked }), 0);
    }
    CU_ASSERT_TRUE(are_answered(&hand, MANY));
    last = hand_pool(&hand, "last", 1, 0);
    binding.target = last;
    options = hand_pool_options(&hand, "feeds");
    options.outputs = &binding;
    options.output_count = 1;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &(weir_pid){ 0 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, last, (struct hand_order){ ask, asked }), 0);
    CU_ASSERT_TRUE(are_answered(&hand, MANY + 1));
    CU_ASSERT_EQUAL(hand_send(&hand, last, (struct hand_order){ ask_after_gate, asked }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    thread = begin_shutdown(&hand);
    CU_ASSERT_TRUE(comes_to_refuse(&hand, last));
    gate_open(&hand.gate);
    (void)pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), MANY + 2);
    hand_finish(&hand);
}

/* --- takers of a group --------------------------------------------------------------------- */

/* promise O5: they are refused while a worker is still leased, as in a pool without a group. */
static void close_while_leased(bool grouped)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_pool_options options;
    struct weir_lease lease, none;
    weir_pid group = 0, pool;
    uint64_t reference;
    struct hand hand;
    pthread_t thread;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "group");
    options.lease = 1;
    if (grouped) {
        options.behaviour = NULL;
        options.workers = 0;
        options.route = WEIR_ROUTE_LEAST_LOADED;
        CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &group), 0);
        options = hand_pool_options(&hand, "group/pool");
        options.lease = 1;
        options.parent = group;
    }
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &pool), 0);
    group = grouped ? group : pool;
    CU_ASSERT_EQUAL(weir_runtime_take(hand.runtime, group, wait_limit_ms(), &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_take_request(hand.runtime, group, wait_limit_ms(), &reference), 0);
    thread = begin_shutdown(&hand);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &answer), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_runtime_take(hand.runtime, group, wait_limit_ms(), &none), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_runtime_return(hand.runtime, &lease, WEIR_DONE), 0);
    (void)pthread_join(thread, NULL);
    hand_finish(&hand);
}

static void test_takers_are_refused_at_once(void)
{
    close_while_leased(false);
    close_while_leased(true);
}

/* --- what closes early ------------------------------------------------------------------------ */

/* A paused pool closes before the pool that feeds it. While both still work, that is said once. */
static void test_early_close_is_said_once(void)
{
    struct weir_runtime_options like = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options options;
    struct weir_binding binding = { 0 };
    weir_pid feeds = 0, far;
    struct hand hand;
    pthread_t thread;

    like.no_room_ms = 1;
    hand_begin_with(&hand, &like, 2);
    far = hand_pool(&hand, "far", 1, 0);
    binding.target = far;
    options = hand_pool_options(&hand, "feeds");
    options.outputs = &binding;
    options.output_count = 1;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &feeds), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, feeds, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, feeds, (struct hand_order){ hand_wait, 1 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, far, (struct hand_order){ hand_wait, 2 }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2));
    CU_ASSERT_EQUAL(weir_runtime_pause(hand.runtime, far), 0);
    thread = begin_shutdown(&hand);
    for (uint32_t ms = 0; ms < wait_limit_ms() && atomic_load(&hand.lines) == 0; ms++)
        (void)poll(NULL, 0, 1);
    (void)poll(NULL, 0, 100); /* a hundred more looks; fewer would show less, not fail */
    gate_open(&hand.gate);
    (void)pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&hand.lines), 1);
    hand_finish(&hand);
}

/* --- workers that give up --------------------------------------------------------------------- */

static int keep(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    (void)self;
    (void)message;
    atomic_fetch_add(&hand->noted, 1);
    return WEIR_KEEP;
}

static int stash(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    CU_ASSERT_EQUAL(weir_stash(self, message), 0);
    atomic_fetch_add(&hand->noted, 1);
    return WEIR_DONE;
}

static int give_up(struct weir_self *self, void *state)
{
    (void)self;
    (void)state;
    return WEIR_END;
}

/* One worker of these, or the pool in `parent`. */
static weir_pid add_giving_up(struct hand *hand, const char *path, weir_pid parent, bool leases)
{
    static struct weir_behaviour behaviour;
    struct weir_pool_options options = hand_pool_options(hand, path);
    weir_pid pool = 0;

    behaviour = *options.behaviour;
    behaviour.flags |= WEIR_GIVES_UP;
    behaviour.leave = give_up;
    options.behaviour = &behaviour;
    options.workers = 1;
    options.parent = parent;
    options.lease = leases;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand->runtime, &options, &pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, pool, wait_limit_ms()), 0);
    return pool;
}

/* Whether it comes to so many. */
static bool are_dead(struct hand *hand, weir_pid pool, uint64_t count)
{
    for (uint32_t ms = 0; ms < wait_limit_ms() && hand_ledger(hand, pool).dead < count; ms++)
        (void)poll(NULL, 0, 1);
    return hand_ledger(hand, pool).dead == count;
}

static void finish_dead(struct hand *hand, pthread_t shutdown, weir_pid pool, uint64_t count)
{
    struct weir_ledger ledger;

    (void)pthread_join(shutdown, NULL);
    CU_ASSERT_TRUE(are_dead(hand, pool, count));
    ledger = hand_ledger(hand, pool);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    hand_finish(hand);
}

/* promise H16 */
static void test_messages_that_are_kept_beside_a_stash_are_given_up(void)
{
    struct hand hand;
    weir_pid pool;

    hand_begin(&hand, 2);
    pool = add_giving_up(&hand, "pool", 0, false);
    CU_ASSERT_EQUAL(hand_send(&hand, pool, (struct hand_order){ stash, 1 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pool, (struct hand_order){ keep, 2 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pool, (struct hand_order){ stash, 3 }), 0);
    CU_ASSERT_TRUE(are_answered(&hand, 2)); /* while it keeps one it takes none */
    finish_dead(&hand, begin_shutdown(&hand), pool, 3);
}

/* promise H16 */
static void test_pool_in_a_pool_gives_up(void)
{
    struct weir_pool_options options;
    weir_pid parent = 0, child;
    struct hand hand;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "parent");
    options.behaviour = NULL;
    options.workers = 0;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &parent), 0);
    child = add_giving_up(&hand, "parent/child", parent, false);
    CU_ASSERT_EQUAL(hand_send(&hand, parent, (struct hand_order){ keep, 1 }), 0);
    CU_ASSERT_TRUE(are_answered(&hand, 1));
    finish_dead(&hand, begin_shutdown(&hand), child, 1);
}

/* promise H16; the lease is the taker's, and ends when it is returned. */
static void test_messages_of_a_lease_are_given_up(void)
{
    struct weir_lease lease;
    struct hand hand;
    pthread_t thread;
    weir_pid pool;

    hand_begin(&hand, 2);
    pool = add_giving_up(&hand, "pool", 0, true);
    CU_ASSERT_EQUAL(weir_runtime_take(hand.runtime, pool, wait_limit_ms(), &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_lease_send(hand.runtime, &lease,
                                            hand_message(&hand, (struct hand_order){ keep, 1 })),
                    0);
    CU_ASSERT_TRUE(are_answered(&hand, 1));
    thread = begin_shutdown(&hand);
    CU_ASSERT_TRUE(are_dead(&hand, pool, 1));
    CU_ASSERT_EQUAL(weir_runtime_return(hand.runtime, &lease, WEIR_DONE), 0);
    finish_dead(&hand, thread, pool, 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "many askers", test_pool_closes_after_each_of_many_that_have_asked_it },
        { "takers", test_takers_are_refused_at_once },
        { "early, once", test_early_close_is_said_once },
        { "gives up, stash", test_messages_that_are_kept_beside_a_stash_are_given_up },
        { "gives up, nested", test_pool_in_a_pool_gives_up },
        { "gives up, lease", test_messages_of_a_lease_are_given_up },
        CU_TEST_INFO_NULL,
    };

    return suite_run("closing", tests);
}
