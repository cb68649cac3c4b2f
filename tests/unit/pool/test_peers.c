/* SPDX-License-Identifier: MIT */
/*
 * Goal: known mistakes of other pools are avoided here.
 *
 * Method: each test is one mistake of a peer, named in its comment; a gate shows how many run.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t threads, uint32_t size, uint32_t limit)
{
    f->probe = probe_create();
    rig_init(&f->rig, threads, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", size, limit);
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise P7: elsewhere a shrink from ten to two leaves ten idle ones, which then run ten wide. */
static void test_shrunk_from_ten_to_two_runs_two_wide(void)
{
    struct fixture f;

    begin(&f, 4, 10, 8);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    for (uint64_t id = 1; id <= 10; id++)
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait, .id = id }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(rig_stats(f.pool).in_hand, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).queued, 8);
    gate_open(&f.probe->gate);
    finish(&f, 10);
}

static bool has_failed_twice(void *context)
{
    return rig_stats(context).restarts == 2;
}

/* promise P4: elsewhere a replaced worker is not watched, and its second end goes unnoticed. */
static void test_replaced_worker_that_fails_again_is_replaced_again(void)
{
    struct fixture f;

    begin(&f, 2, 1, 8);
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_fail, .id = id }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_failed_twice, f.pool));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 1);
    finish(&f, 1);
}

static int refuse_three_times(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) < 3 ? WEIR_ENOMEM : 0;
}

static bool is_whole_again(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 1000);
    return rig_stats(f->pool).live == 4;
}

/* promise P5: elsewhere a worker that could not be made is forgotten, and the pool is one smaller
 * for ever. */
static void test_pool_whose_opens_failed_is_whole_again(void)
{
    struct fixture f;

    begin(&f, 2, 1, 8);
    f.probe->opens = refuse_three_times;
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 4, NULL), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_whole_again, &f));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 4);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->refused), 3);
    finish(&f, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "two wide", test_shrunk_from_ten_to_two_runs_two_wide },
        { "fails again", test_replaced_worker_that_fails_again_is_replaced_again },
        { "whole again", test_pool_whose_opens_failed_is_whole_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("peers", tests);
}
