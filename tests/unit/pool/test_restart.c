/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that exceeds its limit of failures does as `then` of its restart says.
 *
 * Method: workers that fail by order, or cannot open; a clock that stands still, so that all
 * failures are in one window.
 */
#include "pool/change.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static struct spec *make_spec(struct probe *probe, uint32_t max, enum weir_restart_then then)
{
    struct spec *spec = rig_spec(probe);

    spec->restart.max = max;
    spec->restart.then = then;
    return spec;
}

static void begin(struct fixture *f, uint32_t size, uint32_t max, enum weir_restart_then then)
{
    struct pool_options options = { .size = size, .settings.mailbox = 8 };

    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
    options.spec = make_spec(f->probe, max, then);
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

static bool is_one_stopped(void *context)
{
    return rig_stats(context).stopped == 1;
}

static void fail_number(struct fixture *f, uint32_t index, uint32_t times)
{
    struct order order = { .act = probe_fail, .id = 1 };

    for (uint32_t i = 0; i < times; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(f->pool, index), order), 0);
}

static void fail_worker(struct fixture *f, uint32_t times)
{
    fail_number(f, 0, times);
}

/* promise P13 */
static void test_stopped_worker_stays_closed_and_is_seen(void)
{
    struct fixture f;
    struct weir_pool_stats stats;

    begin(&f, 2, 1, WEIR_RESTART_STOP);
    fail_worker(&f, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pool));
    rig_advance(&f.rig, 3600000);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = 2 }),
                    WEIR_ECLOSED);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1)); /* by the other */
    stats = rig_stats(f.pool);
    CU_ASSERT_EQUAL(stats.target, 2);
    CU_ASSERT_EQUAL(stats.live, 1);
    CU_ASSERT_EQUAL(stats.stopped, 1);
    CU_ASSERT_EQUAL(stats.degraded, 1);
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    finish(&f);
}

static bool are_two_stopped(void *context)
{
    return rig_stats(context).stopped == 2;
}

/* promise P2: the round skips members that admit nothing, from any start. */
static void test_round_passes_over_the_closed(void)
{
    struct fixture f;

    begin(&f, 3, 0, WEIR_RESTART_STOP);
    fail_number(&f, 0, 1);
    fail_number(&f, 1, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_two_stopped, f.pool));
    for (uint32_t i = 1; i <= 9; i++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, i));
    }
    finish(&f);
}

/* promises P13 and S2: messages of a stopped worker go to another, or are dead. */
static void test_nothing_is_left_waiting_in_a_stopped_worker(void)
{
    struct fixture f;
    struct ledger_reading ledger;

    begin(&f, 1, 0, WEIR_RESTART_STOP);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait_and_fail }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 1; id <= 5; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = id }), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pool));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    ledger = rig_ledger(f.pool);
    CU_ASSERT_EQUAL(ledger.dead, 6);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_STOPPED), 5);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 7 }), WEIR_EFULL);
    finish(&f);
}

/* promise P13: a reload that changes how workers restart tries once more. */
static void test_stopped_worker_opens_again_by_a_reload(void)
{
    struct fixture f;
    struct pool_change_options options = { .size = 1, .settings.mailbox = 8, .live = true };
    struct pool_change *change;
    struct executor *executor;

    begin(&f, 1, 0, WEIR_RESTART_STOP);
    fail_worker(&f, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pool));
    options.spec = make_spec(f.probe, 5, WEIR_RESTART_STOP);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f.pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).stopped, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    finish(&f);
}

static bool has_escalated(void *context)
{
    return runtime_has_escalated(context);
}

/* promise P13 */
static void test_escalation_reaches_the_top(void)
{
    struct fixture f;

    begin(&f, 1, 1, WEIR_RESTART_ESCALATE);
    fail_worker(&f, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_escalated, f.rig.runtime));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pool));
    finish(&f);
}

static int refuse(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_ENOMEM;
}

/* promise P13: an open that fails is a failure, too; the place is not lost. */
static void test_worker_that_cannot_open_stops_too(void)
{
    struct fixture f;
    struct pool_options options = { .size = 1, .settings.mailbox = 8 };

    f.probe = probe_create();
    f.probe->opens = refuse;
    rig_init(&f.rig, 2, 0);
    options.spec = make_spec(f.probe, 0, WEIR_RESTART_STOP);
    f.pool = rig_pool(&f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).starting, 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "stop", test_stopped_worker_stays_closed_and_is_seen },
        { "round", test_round_passes_over_the_closed },
        { "nothing waits", test_nothing_is_left_waiting_in_a_stopped_worker },
        { "reload", test_stopped_worker_opens_again_by_a_reload },
        { "escalate", test_escalation_reaches_the_top },
        { "open", test_worker_that_cannot_open_stops_too },
        CU_TEST_INFO_NULL,
    };

    return suite_run("restart", tests);
}
