/* SPDX-License-Identifier: MIT */
/*
 * Goal: the figures and names of a pool are right: its workers, the limits of their mailboxes, and
 * the reasons of dead messages.
 *
 * Method: pools beside pools and above them, whose figures are read after each change, and messages
 * that end for known reasons.
 */
#include <string.h>

#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 8u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f)
{
    struct pool_options options = { .size = 2, .settings.mailbox = LIMIT };

    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static int reject(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_REJECT;
}

/* promise P16 */
static void test_the_dead_are_reported_by_reason(void)
{
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = reject }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    stats = rig_stats(f.pool);
    CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_REJECTED], 3);
    CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_CRASHED], 1);
    CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_RETRIES], 0);
    CU_ASSERT_EQUAL(stats.dead, 4);
    finish(&f);
}

/* promise P16: for a pool of pools the sum of the pools below, which have the mailboxes. */
static void test_a_pool_of_pools_sums_the_dead_and_has_no_limit(void)
{
    struct pool_options options = { .path = "top", .settings.mailbox = LIMIT };
    struct weir_pool_stats stats;
    struct executor *executor;
    struct pool *children[2];
    struct fixture f;
    struct pool *top;

    begin(&f);
    top = rig_pool(&f.rig, &options);
    options = (struct pool_options){ .parent = top, .size = 1, .spec = rig_spec(f.probe) };
    for (int i = 0; i < 2; i++) {
        options.path = i ? "top/b" : "top/a";
        children[i] = rig_pool(&f.rig, &options);
        CU_ASSERT_TRUE_FATAL(rig_settled(&f.rig, children[i]));
        CU_ASSERT_EQUAL(rig_send(&f.rig, children[i]->pid, (struct order){ .act = reject }), 0);
    }
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_drained(&f.rig, top));
    stats = rig_stats(top);
    CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_REJECTED], 2);
    CU_ASSERT_EQUAL(stats.limit, 0);
    CU_ASSERT_STRING_EQUAL(stats.behaviour, "");
    CU_ASSERT_TRUE(rig_end(&f.rig, top, NULL));
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(children[0], executor);
    pool_destroy(children[1], executor);
    runtime_leave(executor);
    finish(&f);
}

/* promise P16 */
static void test_behaviour_and_limit_are_reported(void)
{
    struct weir_pool_stats stats;
    struct executor *executor;
    struct fixture f;

    begin(&f);
    stats = rig_stats(f.pool);
    CU_ASSERT_STRING_EQUAL(stats.behaviour, "probe");
    CU_ASSERT_EQUAL(stats.limit, LIMIT);
    executor = runtime_enter(f.rig.runtime);
    pool_set_limit(f.pool, 2 * LIMIT, executor);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(rig_stats(f.pool).limit, 2 * LIMIT);
    finish(&f);
}

/* Two messages wait after one at the gate, and are looked at; a second later a third one. */
static void wait_and_look(struct fixture *f)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_EQUAL(rig_stats(f->pool).oldest_ms, 0);
    rig_advance(&f->rig, 1000);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_EQUAL(rig_stats(f->pool).oldest_ms, 1000);
    rig_advance(&f->rig, 500);
    CU_ASSERT_EQUAL(rig_stats(f->pool).oldest_ms, 1500);
}

/* promise P18: in mailboxes, and in the queue of a pool that routes by pull. */
static void test_the_oldest_that_waits_is_reported(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_PULL };

    for (int i = 0; i < 2; i++) {
        struct pool_options options = { .size = 1,
                                        .settings.mailbox = LIMIT,
                                        .settings.route = routes[i] };
        struct fixture f = { .probe = probe_create() };

        rig_init(&f.rig, 2, 0);
        options.spec = rig_spec(f.probe);
        f.pool = rig_pool(&f.rig, &options);
        spec_unref(options.spec);
        CU_ASSERT_TRUE_FATAL(rig_settled(&f.rig, f.pool));
        wait_and_look(&f);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        CU_ASSERT_EQUAL(rig_stats(f.pool).oldest_ms, 0);
        finish(&f);
    }
}

/* promise B5: a caller with a shorter struct gets fewer fields. */
static void test_shorter_struct_is_not_written_past(void)
{
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f);
    memset(&stats, 0x55, sizeof stats);
    stats.size = offsetof(struct weir_pool_stats, limit);
    pool_stats(f.pool, &stats);
    CU_ASSERT_EQUAL(stats.size, offsetof(struct weir_pool_stats, limit));
    CU_ASSERT_EQUAL(stats.target, 2);
    CU_ASSERT_EQUAL(stats.limit, 0x5555555555555555u);
    CU_ASSERT_EQUAL(stats.behaviour[0], 0x55);
    finish(&f);
}

static uint64_t read_hand_ms(struct fixture *f)
{
    struct weir_member members[2];

    CU_ASSERT_EQUAL(pool_members(f->pool, members, sizeof members[0], 2), 2);
    return members[0].hand_ms > members[1].hand_ms ? members[0].hand_ms : members[1].hand_ms;
}

static int wait_and_put_back(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct order *order = message->data;

    (void)gate_pass(&probe->gate);
    if (order->argument++ == 0)
        CU_ASSERT_EQUAL(weir_put_back(self, message), 0);
    return WEIR_DONE;
}

/* A message that begins again is as young as its second beginning. */
static void test_age_in_hand_begins_again(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = wait_and_put_back }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(read_hand_ms(&f), 0);
    rig_advance(&f.rig, 5000);
    CU_ASSERT_EQUAL(read_hand_ms(&f), 5000);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(read_hand_ms(&f), 0);
    rig_advance(&f.rig, 3000);
    CU_ASSERT_EQUAL(read_hand_ms(&f), 3000);
    gate_open(&f.probe->gate);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "dead", test_the_dead_are_reported_by_reason },
        { "sum", test_a_pool_of_pools_sums_the_dead_and_has_no_limit },
        { "names", test_behaviour_and_limit_are_reported },
        { "oldest", test_the_oldest_that_waits_is_reported },
        { "age in hand", test_age_in_hand_begins_again },
        { "shorter", test_shorter_struct_is_not_written_past },
        CU_TEST_INFO_NULL,
    };

    return suite_run("figures", tests);
}
