/* SPDX-License-Identifier: MIT */
/*
 * Goal: urgent comes before high, high before normal; high cannot starve normal; the two lanes have
 * limits of their own; a pool without a manager rejects such messages as unhandled.
 *
 * Method: a worker waits inside a handler on one thread of two while its lanes are filled; the
 * order of its notes is compared.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    weir_pid worker;
};

/* The one worker is inside its first message. */
static void begin(struct fixture *f)
{
    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 0);
    f->worker = rig_worker(f->pool, 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
}

static void send(struct fixture *f, enum weir_lane lane, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->worker, lane, (struct order){ .id = id }), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise S4 */
static void test_urgent_then_high_then_normal(void)
{
    static const uint64_t wanted[] = { 0, 31, 32, 21, 22, 11, 12 };
    struct fixture f;

    begin(&f);
    send(&f, WEIR_NORMAL, 11);
    send(&f, WEIR_HIGH, 21);
    send(&f, WEIR_URGENT, 31);
    send(&f, WEIR_NORMAL, 12);
    send(&f, WEIR_HIGH, 22);
    send(&f, WEIR_URGENT, 32);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 12, 1));
    for (uint32_t i = 0; i < 7; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), wanted[i]);
    finish(&f);
}

/* promise S4 */
static void test_stream_of_high_does_not_starve_normal(void)
{
    struct fixture f;
    uint32_t high_before = 0;

    begin(&f);
    send(&f, WEIR_NORMAL, 11);
    for (uint32_t i = 0; i < ACTOR_LANE_LIMIT; i++)
        send(&f, WEIR_HIGH, 21);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 21, ACTOR_LANE_LIMIT));
    CU_ASSERT_EQUAL(probe_times(f.probe, 11), 1);
    for (uint32_t i = 1; probe_get(f.probe, i) == 21; i++)
        high_before++;
    CU_ASSERT_TRUE(high_before < ACTOR_LANE_LIMIT / 2);
    finish(&f);
}

static void expect_limit(enum weir_lane lane)
{
    struct fixture f;

    begin(&f);
    for (uint32_t i = 0; i < ACTOR_LANE_LIMIT; i++)
        send(&f, lane, 1);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.worker, lane, (struct order){ .id = 2 }), WEIR_EFULL);
    send(&f, lane == WEIR_HIGH ? WEIR_URGENT : WEIR_HIGH, 3); /* the other lane has its own limit */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, ACTOR_LANE_LIMIT));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    send(&f, lane, 4); /* there is room again */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 4, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0);
    finish(&f);
}

/* promise S5 */
static void test_high_lane_of_64_is_full(void)
{
    expect_limit(WEIR_HIGH);
}

/* promise S5 */
static void test_urgent_lane_of_64_is_full(void)
{
    expect_limit(WEIR_URGENT);
}

static void test_lane_that_is_none_is_refused(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.worker, (enum weir_lane)3, (struct order){ .id = 2 }),
                    WEIR_EINVALID);
    gate_open(&f.probe->gate);
    finish(&f);
}

static bool has_unhandled(void *context)
{
    return rig_dead(context, DEAD_UNHANDLED) == 1;
}

/* promise S2: without a manager it is dead with a reason, and never reaches a worker. */
static void test_high_message_to_a_pool_is_dead_unhandled(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_HIGH, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_unhandled, f.pool));
    gate_open(&f.probe->gate);
    finish(&f);
}

static int forward_high(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;

    if (message->lane == WEIR_HIGH) {
        probe_note(probe, 90);
        return WEIR_DONE;
    }
    CU_ASSERT_EQUAL(weir_forward_lane(self, f->worker, WEIR_HIGH, message), 0);
    return WEIR_DONE;
}

/* promise S7: forwarded in another lane, it comes before waiting messages. */
static void test_message_forwarded_in_a_lane_comes_in_it(void)
{
    struct fixture f;

    begin(&f);
    f.probe->context = &f;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.worker, (struct order){ .act = forward_high, .id = 1 }), 0);
    send(&f, WEIR_NORMAL, 2);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    CU_ASSERT_EQUAL(probe_get(f.probe, 1), 1); /* in the normal lane */
    CU_ASSERT_EQUAL(probe_get(f.probe, 2), 1); /* in the high one */
    CU_ASSERT_EQUAL(probe_get(f.probe, 3), 90);
    CU_ASSERT_EQUAL(probe_get(f.probe, 4), 2);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "order", test_urgent_then_high_then_normal },
        { "no starving", test_stream_of_high_does_not_starve_normal },
        { "high is full", test_high_lane_of_64_is_full },
        { "urgent is full", test_urgent_lane_of_64_is_full },
        { "no lane", test_lane_that_is_none_is_refused },
        { "unhandled", test_high_message_to_a_pool_is_dead_unhandled },
        { "forwarded", test_message_forwarded_in_a_lane_comes_in_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lane", tests);
}
