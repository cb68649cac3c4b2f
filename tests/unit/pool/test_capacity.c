/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool takes exactly as many messages as its mailboxes and workers hold, and returns FULL
 * to its sender at once, through any nesting; the figures agree.
 *
 * Method: every worker waits inside a message, on a thread of its own; then messages are sent until
 * one is refused.
 */
#include <stdio.h>

#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LEAVES 4u

struct fixture {
    struct rig rig;
    struct probe *probe;
};

static void begin(struct fixture *f, uint32_t threads)
{
    f->probe = probe_create();
    rig_init(&f->rig, threads, 0);
}

static void finish(struct fixture *f)
{
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Has `count` workers come to the gate, each with a message in hand. */
static void hold(struct fixture *f, struct pool *pool, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .act = probe_wait, .id = i }),
                        0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, count));
}

#define TAKEN_MAX 1000u /* far more than any pool here has room for */

/* How many more are taken, until one is refused with FULL. */
static uint32_t fill(struct fixture *f, struct pool *pool)
{
    uint32_t taken = 0;
    int status = 0;

    while (taken < TAKEN_MAX &&
           (status = rig_send(&f->rig, pool->pid,
                              (struct order){ .act = probe_wait, .id = 100 + taken })) == 0)
        taken++;
    CU_ASSERT_EQUAL(status, WEIR_EFULL);
    return taken;
}

/* promises P2, S1 and S5 */
static void test_pool_takes_size_times_limit_and_those_in_hand(void)
{
    struct ledger_reading ledger;
    struct weir_pool_stats stats;
    struct fixture f;
    struct pool *pool;

    begin(&f, 3);
    pool = rig_workers(&f.rig, f.probe, "pool", 3, 2);
    hold(&f, pool, 3);
    CU_ASSERT_EQUAL(fill(&f, pool), 6);
    stats = rig_stats(pool);
    CU_ASSERT_EQUAL(stats.accepted, 9);
    CU_ASSERT_EQUAL(stats.queued, 6);
    CU_ASSERT_EQUAL(stats.in_hand, 3);
    CU_ASSERT_EQUAL(stats.busy, 3);
    CU_ASSERT_EQUAL(stats.refused, 1);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 9);
    finish(&f);
}

static void set_limit(struct rig *rig, struct pool *pool, uint32_t limit)
{
    struct executor *executor = runtime_enter(rig->runtime);

    pool_set_limit(pool, limit, executor);
    runtime_leave(executor);
}

/* promise S5 */
static void test_changed_limit_counts_at_once(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, 1);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 2);
    hold(&f, pool, 1);
    CU_ASSERT_EQUAL(fill(&f, pool), 2);
    set_limit(&f.rig, pool, 5);
    CU_ASSERT_EQUAL(fill(&f, pool), 3);
    set_limit(&f.rig, pool, 1);
    CU_ASSERT_EQUAL(fill(&f, pool), 0);
    gate_admit(&f.probe->gate, 4); /* one is left in the mailbox, the limit */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 5));
    CU_ASSERT_EQUAL(fill(&f, pool), 0);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 6));
    CU_ASSERT_EQUAL(fill(&f, pool), 1);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* Three levels: top, two in the middle, two leaves of one worker in each of those. */
struct tree {
    struct pool *top;
    struct pool *middle[2];
    struct pool *leaves[LEAVES];
};

static void plant(struct fixture *f, struct tree *tree, uint32_t limit)
{
    struct spec *spec = rig_spec(f->probe);
    char path[32];

    tree->top = rig_pool(&f->rig, &(struct pool_options){ .path = "top" });
    for (uint32_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "top/%u", i);
        tree->middle[i] = rig_pool(&f->rig,
                                   &(struct pool_options){ .path = path, .parent = tree->top });
    }
    for (uint32_t i = 0; i < LEAVES; i++) {
        struct pool *parent = tree->middle[i / 2];

        (void)snprintf(path, sizeof path, "top/%u/%u", i / 2, i);
        tree->leaves[i] = rig_pool(&f->rig, &(struct pool_options){ .path = path,
                                                                    .spec = spec,
                                                                    .parent = parent,
                                                                    .size = 1,
                                                                    .settings.mailbox = limit });
    }
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, tree->top));
}

/* Closes the top, waits, and frees all. */
static void fell(struct fixture *f, struct tree *tree, struct ledger_reading *ledger)
{
    struct executor *executor;

    CU_ASSERT_TRUE(rig_end(&f->rig, tree->top, ledger));
    executor = runtime_enter(f->rig.runtime);
    for (uint32_t i = 0; i < LEAVES; i++) {
        CU_ASSERT_TRUE(pool_has_ended(tree->leaves[i]));
        pool_destroy(tree->leaves[i], executor);
    }
    for (uint32_t i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(pool_has_ended(tree->middle[i]));
        pool_destroy(tree->middle[i], executor);
    }
    runtime_leave(executor);
}

/* promises P3, P8 and L2 */
static void test_full_goes_up_through_three_levels_to_the_sender(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct tree tree;

    begin(&f, LEAVES);
    plant(&f, &tree, 1);
    hold(&f, tree.top, LEAVES);
    CU_ASSERT_EQUAL(fill(&f, tree.top), LEAVES);
    CU_ASSERT_EQUAL(rig_stats(tree.top).refused, 1); /* once, at the pool addressed */
    CU_ASSERT_EQUAL(rig_stats(tree.middle[0]).refused, 0);
    CU_ASSERT_EQUAL(rig_stats(tree.leaves[0]).refused, 0);
    gate_admit(&f.probe->gate, 1); /* one worker goes on: one place is free */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, LEAVES + 1));
    CU_ASSERT_EQUAL(fill(&f, tree.top), 1);
    CU_ASSERT_EQUAL(rig_stats(tree.top).accepted, 2 * LEAVES + 1);
    gate_open(&f.probe->gate);
    fell(&f, &tree, &ledger);
    CU_ASSERT_EQUAL(ledger.done, 2 * LEAVES + 1);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), LEAVES);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), LEAVES);
    finish(&f);
}

/* promise P1 */
static void test_nested_pools_share_evenly(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct tree tree;

    begin(&f, 2);
    plant(&f, &tree, 0);
    for (uint64_t id = 0; id < 80; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, tree.top->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, tree.top));
    for (uint32_t i = 0; i < LEAVES; i++)
        CU_ASSERT_EQUAL(rig_ledger(tree.leaves[i]).done, 20);
    fell(&f, &tree, &ledger);
    CU_ASSERT_EQUAL(ledger.done, 80);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "exact", test_pool_takes_size_times_limit_and_those_in_hand },
        { "limit", test_changed_limit_counts_at_once },
        { "three levels", test_full_goes_up_through_three_levels_to_the_sender },
        { "nested", test_nested_pools_share_evenly },
        CU_TEST_INFO_NULL,
    };

    return suite_run("capacity", tests);
}
