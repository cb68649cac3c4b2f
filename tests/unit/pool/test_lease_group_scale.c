/* SPDX-License-Identifier: MIT */
/*
 * Goal: a group of pools that scale themselves starts a worker for each taker that waits: as many
 * as there are takers and no more, while any pool of the group can grow.
 *
 * Method: a group of two pools without workers, beside the pool of lease_rig.h; its holders take
 * from the group.
 */
#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define MEMBERS 2u
#define IDLE_MS 1000000u /* longer than any test moves the clock */

struct group {
    struct fixture f;
    struct probe *broken; /* of pool 0, when its workers do not open */
    struct pool *pool;
    struct pool *members[MEMBERS];
};

static struct pool *make_group(struct group *g)
{
    struct pool_options options = { .path = "group",
                                    .settings = { .route = WEIR_ROUTE_LEAST_LOADED,
                                                  .lease = { true, LEASE_MS, SLOTS } } };
    struct pool *pool = rig_pool(&g->f.rig, &options);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static struct pool *make_member(struct group *g, uint32_t index, struct probe *probe, uint32_t max,
                                uint64_t wait_ms)
{
    static const char *const paths[MEMBERS] = { "group/a", "group/b" };
    struct pool_options options = { .path = paths[index],
                                    .parent = g->pool,
                                    .settings = { .route = WEIR_ROUTE_PULL,
                                                  .mailbox = 4,
                                                  .size_max = max,
                                                  .scale = { true, wait_ms, IDLE_MS },
                                                  .remove = { .timeout_ms = 500 },
                                                  .lease = { true, LEASE_MS, 1 } } };
    struct pool *pool;

    options.spec = rig_spec(probe);
    options.spec->restart = (struct restart){
        .max = UINT32_MAX, .within_ms = 1, .backoff_ms_min = 10, .backoff_ms_max = 10
    };
    pool = rig_pool(&g->f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static int fails(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_FAIL;
}

static void begin_group(struct group *g, uint32_t a, uint32_t b, uint64_t wait_ms, bool is_broken)
{
    begin(&g->f, 1, 0);
    g->broken = probe_create();
    g->broken->opens = fails;
    g->pool = make_group(g);
    g->members[0] = make_member(g, 0, is_broken ? g->broken : g->f.member, a, wait_ms);
    g->members[1] = make_member(g, 1, g->f.member, b, wait_ms);
    g->f.target = g->pool->pid;
}

static void finish_group(struct group *g)
{
    struct executor *executor;

    CU_ASSERT_TRUE(rig_end(&g->f.rig, g->pool, NULL));
    executor = runtime_enter(g->f.rig.runtime);
    for (uint32_t i = 0; i < MEMBERS; i++)
        pool_destroy(g->members[i], executor);
    runtime_leave(executor);
    finish(&g->f);
    probe_destroy(g->broken);
}

static uint64_t size_of(struct group *g)
{
    return rig_stats(g->members[0]).target + rig_stats(g->members[1]).target;
}

struct wish {
    struct group *g;
    uint32_t takers;
};

/* Moves the clock while takers wait. */
static bool are_served(void *context)
{
    const struct wish *wish = context;

    rig_advance(&wish->g->f.rig, 1);
    for (uint32_t slot = 0; slot < wish->takers; slot++)
        if (atomic_load(&wish->g->f.slots[slot].answer) == NOT_YET)
            return false;
    return true;
}

static void take_all(struct group *g, uint32_t takers)
{
    struct wish wish = { g, takers };

    for (uint32_t slot = 0; slot < takers; slot++)
        act(&g->f, slot, take);
    CU_ASSERT_TRUE(rig_wait(&g->f.rig, are_served, &wish));
    for (uint32_t slot = 0; slot < takers; slot++)
        CU_ASSERT_EQUAL(atomic_load(&g->f.slots[slot].answer), 0);
}

static void return_all(struct group *g, uint32_t takers)
{
    for (uint32_t slot = 0; slot < takers; slot++)
        CU_ASSERT_EQUAL(result(&g->f, slot, return_done), 0);
}

/* promise P40 */
static void test_taker_starts_one_worker_in_one_pool(void)
{
    struct group g = { 0 };

    begin_group(&g, 2, 2, 0, false);
    for (uint32_t slot = 0; slot < 4; slot++) {
        CU_ASSERT_TRUE(takes(&g.f, slot));
        CU_ASSERT_EQUAL(size_of(&g), slot + 1);
    }
    return_all(&g, 4);
    finish_group(&g);
}

/* promise P40 */
static void test_burst_of_takers_starts_as_many_workers(void)
{
    struct group g = { 0 };

    begin_group(&g, 4, 4, 0, false);
    take_all(&g, 6);
    CU_ASSERT_EQUAL(size_of(&g), 6);
    return_all(&g, 6);
    finish_group(&g);
}

/* promise P40: the first pool has its maximum after one worker */
static void test_pool_at_its_maximum_leaves_takers_to_the_others(void)
{
    struct group g = { 0 };

    begin_group(&g, 1, 5, 0, false);
    take_all(&g, 6);
    CU_ASSERT_EQUAL(size_of(&g), 6);
    return_all(&g, 6);
    finish_group(&g);
}

/* promise P40 */
static void test_pool_whose_workers_do_not_open_leaves_takers_to_the_others(void)
{
    struct group g = { 0 };

    begin_group(&g, 4, 4, 0, true);
    take_all(&g, 4);
    CU_ASSERT_EQUAL(rig_stats(g.members[1]).target, 4);
    return_all(&g, 4);
    finish_group(&g);
}

static bool are_two_served(void *context)
{
    const struct group *g = context;

    for (uint32_t slot = 0; slot < 2; slot++)
        if (atomic_load(&g->f.slots[slot].answer) == NOT_YET)
            return false;
    return true;
}

/* promise P40: the pools start workers by turns, so one of two takers asks the pool whose workers
 * do not open. The clock stands still: no timer helps. */
static void test_failed_open_leaves_its_taker_to_the_others_at_once(void)
{
    struct group g = { 0 };

    begin_group(&g, 4, 4, 0, true);
    for (uint32_t slot = 0; slot < 2; slot++)
        act(&g.f, slot, take);
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, are_two_served, &g));
    for (uint32_t slot = 0; slot < 2; slot++)
        CU_ASSERT_EQUAL(atomic_load(&g.f.slots[slot].answer), 0);
    return_all(&g, 2);
    finish_group(&g);
}

/* promise P40: with a time that takers wait before their pool grows */
static void test_takers_that_wait_long_enough_grow_the_pools(void)
{
    struct group g = { 0 };

    begin_group(&g, 2, 2, 20, false);
    take_all(&g, 4);
    CU_ASSERT_EQUAL(size_of(&g), 4);
    return_all(&g, 4);
    finish_group(&g);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one", test_taker_starts_one_worker_in_one_pool },
        { "burst", test_burst_of_takers_starts_as_many_workers },
        { "maximum", test_pool_at_its_maximum_leaves_takers_to_the_others },
        { "broken", test_pool_whose_workers_do_not_open_leaves_takers_to_the_others },
        { "at once", test_failed_open_leaves_its_taker_to_the_others_at_once },
        { "wait", test_takers_that_wait_long_enough_grow_the_pools },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_group_scale", tests);
}
