/* SPDX-License-Identifier: MIT */
/*
 * Goal: pause holds for a pool of a group as for any pool: no take, no growth, no waiting taker;
 * when it goes on it serves those that wait. A group whose pools are all paused is full.
 *
 * Method: a group of two pools beside the pool of lease_rig.h; its holders take from the group.
 */
#include "pool/creation.h"
#include "pool/settings.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define IDLE_MS 1000000u /* longer than any test moves the clock */
#define WORKERS 3u

struct group {
    struct fixture f;
    struct pool *pool;
    struct pool *members[2];
};

static struct pool *make_member(struct group *g, const char *path, bool scales)
{
    struct pool_options options = { .path = path,
                                    .parent = g->pool,
                                    .size = scales ? 0 : WORKERS,
                                    .settings = { .route = WEIR_ROUTE_PULL,
                                                  .mailbox = 4,
                                                  .size_max = WORKERS,
                                                  .scale = { scales, 0, IDLE_MS },
                                                  .remove = { .timeout_ms = 500 },
                                                  .lease = { true, LEASE_MS, 1 } } };
    struct pool *pool;

    options.spec = rig_spec(g->f.member);
    pool = rig_pool(&g->f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&g->f.rig, pool));
    return pool;
}

static void begin_group(struct group *g, enum weir_route route, bool scales)
{
    struct pool_options options = {
        .path = "group", .settings = { .route = route, .lease = { true, LEASE_MS, SLOTS } }
    };

    begin(&g->f, 1, 0);
    g->pool = rig_pool(&g->f.rig, &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g->pool);
    g->members[0] = make_member(g, "group/a", scales);
    g->members[1] = make_member(g, "group/b", scales);
    g->f.target = g->pool->pid;
}

static void finish_group(struct group *g)
{
    struct executor *executor;

    CU_ASSERT_TRUE(rig_end(&g->f.rig, g->pool, NULL));
    executor = runtime_enter(g->f.rig.runtime);
    for (uint32_t i = 0; i < 2; i++)
        pool_destroy(g->members[i], executor);
    runtime_leave(executor);
    finish(&g->f);
}

static void pause_member(struct group *g, uint32_t member, bool paused)
{
    struct executor *executor = runtime_enter(g->f.rig.runtime);

    pool_pause(g->members[member], paused, executor);
    runtime_leave(executor);
}

static void return_all(struct group *g, uint32_t takers)
{
    for (uint32_t slot = 0; slot < takers; slot++)
        CU_ASSERT_EQUAL(result(&g->f, slot, return_done), 0);
}

static bool has_one_waiting(void *context)
{
    return rig_stats(context).queued == 1;
}

static bool are_all_free(void *context)
{
    struct pool *pool = context;

    return atomic_load(&pool->pull.sleeping) == WORKERS;
}

/* promise P42 */
static void test_paused_pool_gives_no_worker_until_it_goes_on(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_LEAST_LOADED, WEIR_ROUTE_ROUND_ROBIN,
                                              WEIR_ROUTE_RANDOM };

    for (uint32_t i = 0; i < 3; i++) {
        struct group g = { 0 };

        begin_group(&g, routes[i], false);
        pause_member(&g, 0, true);
        for (uint32_t slot = 0; slot < WORKERS; slot++)
            CU_ASSERT_TRUE(takes(&g.f, slot));
        CU_ASSERT_EQUAL(rig_stats(g.members[0]).busy, 0);
        CU_ASSERT_EQUAL(rig_stats(g.members[1]).busy, WORKERS);
        act(&g.f, WORKERS, take);
        CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_one_waiting, g.pool));
        CU_ASSERT_EQUAL(atomic_load(&g.f.slots[WORKERS].answer), NOT_YET);
        pause_member(&g, 0, false);
        CU_ASSERT_TRUE(answered(&g.f, WORKERS, 0));
        return_all(&g, WORKERS + 1);
        finish_group(&g);
    }
}

/* promise P42: a worker that is returned while its pool is paused, too. */
static void test_worker_returned_to_a_paused_pool_serves_no_taker(void)
{
    struct group g = { 0 };

    begin_group(&g, WEIR_ROUTE_LEAST_LOADED, false);
    for (uint32_t slot = 0; slot < 2 * WORKERS; slot++)
        CU_ASSERT_TRUE(takes(&g.f, slot));
    pause_member(&g, 0, true);
    pause_member(&g, 1, true);
    act(&g.f, 6, take);
    CU_ASSERT_TRUE(answered(&g.f, 6, WEIR_EFULL));
    pause_member(&g, 1, false);
    act(&g.f, 7, take);
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_one_waiting, g.pool));
    pause_member(&g, 1, true);
    return_all(&g, 2 * WORKERS);
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_one_waiting, g.pool));
    CU_ASSERT_EQUAL(atomic_load(&g.f.slots[7].answer), NOT_YET);
    pause_member(&g, 0, false);
    CU_ASSERT_TRUE(answered(&g.f, 7, 0));
    CU_ASSERT_EQUAL(result(&g.f, 7, return_done), 0);
    finish_group(&g);
}

/* promise P42 */
static void test_paused_pool_does_not_grow_for_takers(void)
{
    struct group g = { 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, true);
    pause_member(&g, 0, true);
    for (uint32_t slot = 0; slot < WORKERS; slot++)
        CU_ASSERT_TRUE(takes(&g.f, slot));
    CU_ASSERT_EQUAL(rig_stats(g.members[0]).target, 0);
    CU_ASSERT_EQUAL(rig_stats(g.members[1]).target, WORKERS);
    act(&g.f, WORKERS, take); /* the other has its maximum */
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_one_waiting, g.pool));
    CU_ASSERT_EQUAL(rig_stats(g.members[0]).target, 0);
    pause_member(&g, 0, false);
    CU_ASSERT_TRUE(answered(&g.f, WORKERS, 0));
    return_all(&g, WORKERS + 1);
    finish_group(&g);
}

/* promise P42: its workers that sleep are no room, and no reason for the others not to grow. */
static void test_sleeping_workers_of_a_paused_pool_hold_up_no_growth(void)
{
    struct group g = { 0 };

    begin_group(&g, WEIR_ROUTE_LEAST_LOADED, true);
    pause_member(&g, 1, true);
    for (uint32_t slot = 0; slot < WORKERS; slot++)
        CU_ASSERT_TRUE(takes(&g.f, slot));
    return_all(&g, WORKERS);
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, are_all_free, g.members[0]));
    pause_member(&g, 0, true);
    pause_member(&g, 1, false);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_EQUAL(rig_stats(g.members[1]).target, 1);
    return_all(&g, 1);
    finish_group(&g);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a paused pool gives no worker until it goes on",
          test_paused_pool_gives_no_worker_until_it_goes_on },
        { "a worker returned to a paused pool serves no taker",
          test_worker_returned_to_a_paused_pool_serves_no_taker },
        { "a paused pool does not grow for takers", test_paused_pool_does_not_grow_for_takers },
        { "its sleeping workers hold up no growth",
          test_sleeping_workers_of_a_paused_pool_hold_up_no_growth },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_group_paused", tests);
}
