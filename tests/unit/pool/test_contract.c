/* SPDX-License-Identifier: MIT */
/*
 * Goal: parts of the contract of a resize that no other file here tests: new workers of the same
 * kind take up waiting messages; exactly the surplus leaves; any thread can read the figures at any
 * time; a worker that fails repeatedly ends, but not its pool.
 *
 * Method: every worker waits inside a message at a gate, so that only the resize or the replacement
 * can make progress.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 4u
#define EPOCH 5000u /* a note: EPOCH + the epoch that a handler sees */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t threads, struct pool_options options,
                  uint32_t redeliver)
{
    f->probe = probe_create();
    rig_init(&f->rig, threads, 0);
    options.settings.mailbox = LIMIT;
    options.spec = rig_spec(f->probe);
    options.spec->redeliver_max = redeliver;
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static struct ledger_reading finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    return ledger;
}

static int send(struct fixture *f, probe_act *act, uint64_t id)
{
    return rig_send(&f->rig, f->pool->pid, (struct order){ .act = act, .id = id });
}

/* Holds every worker, one after the other. */
static void hold(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(send(f, probe_wait, 1), 0);
        CU_ASSERT_TRUE(gate_await(&f->probe->gate, i + 1));
    }
}

/* promise P7: new workers take up waiting messages, while all old ones wait at the gate. */
static void test_backlog_is_taken_up_by_growth_alone(void)
{
    struct fixture f;

    begin(&f, 4, (struct pool_options){ .size = 2, .settings.route = WEIR_ROUTE_PULL }, 0);
    hold(&f, 2);
    for (uint64_t id = 10; id < 14; id++)
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 4, NULL), 0);
    for (uint64_t id = 10; id < 14; id++)
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1));
    CU_ASSERT_EQUAL(finish(&f).done, 6);
}

/* promises P4 and P12: one fails and is replaced, and a waiting message begins; the other waits. */
static void test_what_waits_begins_after_a_failure(void)
{
    struct fixture f;

    begin(&f, 2, (struct pool_options){ .size = 2, .settings.route = WEIR_ROUTE_PULL }, 0);
    CU_ASSERT_EQUAL(send(&f, probe_wait_and_fail, 1), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(send(&f, probe_wait, 2), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(send(&f, NULL, 3), 0);
    gate_admit(&f.probe->gate, 1); /* the first that came */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    CU_ASSERT_EQUAL(finish(&f).dead, 1);
}

/* promise P7 */
static void test_exactly_the_surplus_leaves(void)
{
    struct fixture f;

    begin(&f, 2, (struct pool_options){ .size = 6 }, 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 5, NULL), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 4);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    (void)finish(&f);
}

/* promise P7: a new worker is as the old ones are; held, it has room for as many. */
static void test_new_worker_is_equal_in_kind(void)
{
    struct fixture f;
    weir_pid worker;

    begin(&f, 2, (struct pool_options){ .size = 1 }, 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    worker = rig_worker(f.pool, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, worker, (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint32_t i = 0; i < LIMIT; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, worker, (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, worker, (struct order){ .id = 3 }), WEIR_EFULL);
    (void)finish(&f);
}

/* promise P7: with every worker at the gate and most of them removed. */
static void test_figures_are_read_while_a_shrink_waits(void)
{
    struct weir_member members[4];
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, 4, (struct pool_options){ .size = 4 }, 0);
    hold(&f, 4);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    stats = rig_stats(f.pool);
    CU_ASSERT_EQUAL(stats.target, 1);
    CU_ASSERT_EQUAL(stats.retiring, 3);
    CU_ASSERT_EQUAL(stats.busy, 1); /* removed workers are counted apart */
    CU_ASSERT_EQUAL(stats.in_hand, 4);
    CU_ASSERT_EQUAL(pool_members(f.pool, members, sizeof members[0], 4), 4);
    CU_ASSERT_EQUAL(pool_target(f.pool), 1);
    CU_ASSERT_EQUAL(finish(&f).done, 4);
}

static int note_epoch(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    (void)message;
    CU_ASSERT_EQUAL(weir_pool_stats(self, weir_pool(self), &stats), 0);
    probe_note(probe, EPOCH + stats.epoch);
    return WEIR_DONE;
}

/* promise P7: a message that begins after a resize has returned sees it. */
static void test_what_begins_after_a_resize_sees_its_epoch(void)
{
    struct fixture f;

    begin(&f, 2, (struct pool_options){ .size = 1 }, 0);
    for (uint32_t size = 2; size <= 6; size++) {
        struct weir_resized resized;

        CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, size, &resized), 0);
        CU_ASSERT_EQUAL(send(&f, note_epoch, 1), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, EPOCH + resized.epoch, 1));
    }
    CU_ASSERT_EQUAL(finish(&f).done, 5);
}

/* promise P4: given again as often as it may be, then dead; the others go on. */
static void test_poison_ends_as_a_dead_letter(void)
{
    struct fixture f;

    begin(&f, 2, (struct pool_options){ .size = 1 }, 2);
    CU_ASSERT_EQUAL(send(&f, probe_fail, 1), 0);
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 3);
    CU_ASSERT_EQUAL(probe_get(f.probe, 3), 2); /* before everything else */
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    CU_ASSERT_EQUAL(finish(&f).done, 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "backlog", test_backlog_is_taken_up_by_growth_alone },
        { "after a failure", test_what_waits_begins_after_a_failure },
        { "surplus", test_exactly_the_surplus_leaves },
        { "equal", test_new_worker_is_equal_in_kind },
        { "figures", test_figures_are_read_while_a_shrink_waits },
        { "epoch", test_what_begins_after_a_resize_sees_its_epoch },
        { "poison", test_poison_ends_as_a_dead_letter },
        CU_TEST_INFO_NULL,
    };

    return suite_run("contract", tests);
}
