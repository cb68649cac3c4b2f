/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool whose workers have all stopped refuses, and what waits in its queue is dead
 * `stopped`, by each route; so does a group whose pools have all stopped. A worker that opens again
 * makes it accept.
 *
 * Method: a table of pools. One message fails each worker while others wait; `restart` stops a
 * worker after its first failure. Holders take from pools with leases.
 */
#include <stdio.h>

#include "pool/creation.h"
#include "pool/renewal.h"
#include "pool/route.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define FOR_LONG_MS 1000000u
#define WAITING 4u

struct row {
    const char *name;
    enum weir_route route;
    uint32_t size;
    bool scales; /* and has its maximum */
};

static const struct row rows[] = {
    { "round robin", WEIR_ROUTE_ROUND_ROBIN, 1, false },
    { "least loaded", WEIR_ROUTE_LEAST_LOADED, 2, false },
    { "pull", WEIR_ROUTE_PULL, 1, false },
    { "pull, two workers", WEIR_ROUTE_PULL, 2, false },
    { "pull, at its maximum", WEIR_ROUTE_PULL, 2, true },
};

static struct pool *make_pool(struct fixture *f, const struct pool_options *given)
{
    struct pool_options options = *given;
    struct pool *pool;

    options.spec = rig_spec(f->member);
    options.spec->restart = (struct restart){ .max = 0,
                                              .within_ms = FOR_LONG_MS,
                                              .backoff_ms_min = 1,
                                              .backoff_ms_max = 1,
                                              .then = WEIR_RESTART_STOP };
    options.settings.remove.timeout_ms = 500;
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static bool have_stopped(void *context)
{
    struct weir_pool_stats stats = rig_stats(context);

    return stats.stopped == stats.target && stats.queued == 0 && stats.in_hand == 0;
}

static bool has_one_queued(void *context)
{
    return rig_stats(context).queued == 1;
}

static void restart(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    renewal_order(pool, false, 0, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
}

static uint32_t room_in(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    uint32_t room = route_room(pool);

    runtime_leave(executor);
    return room;
}

static void check_row(const struct row *row)
{
    const struct setup setup = { .size = 1, .threads = 4 };
    struct pool_options options = { .path = "stops",
                                    .size = row->size,
                                    .settings = { .route = row->route, .mailbox = 8 } };
    struct fixture f;
    struct pool *pool;

    begin_as(&f, &setup);
    if (row->scales) {
        options.settings.size_max = row->size;
        options.settings.scale = (struct scale){ true, 0, FOR_LONG_MS };
    }
    pool = make_pool(&f, &options);
    for (uint32_t i = 0; i < row->size; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .act = probe_wait_and_fail }),
                        0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, row->size));
    for (uint32_t i = 0; i < WAITING; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 1 }), 0);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_stopped, pool));
    CU_ASSERT_EQUAL(rig_dead(pool, DEAD_CRASHED), row->size);
    CU_ASSERT_EQUAL(rig_dead(pool, DEAD_STOPPED), WAITING);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(room_in(&f, pool), 0);
    restart(&f, pool);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 3, 1));
    CU_ASSERT_EQUAL(probe_times(f.member, 2), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise P13 */
static void test_pool_that_has_stopped_refuses_and_empties_its_queue(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t failures = CU_get_number_of_failures();

        check_row(&rows[i]);
        if (CU_get_number_of_failures() > failures)
            (void)fprintf(stderr, "%s\n", rows[i].name);
    }
}

/* promise P13: it grows instead, while it can. */
static void test_pool_that_can_grow_does_not_refuse(void)
{
    const struct setup setup = { .size = 1, .threads = 4 };
    struct pool_options options = { .path = "stops",
                                    .size = 1,
                                    .settings = { .route = WEIR_ROUTE_PULL,
                                                  .mailbox = 8,
                                                  .size_max = 2,
                                                  .scale = { true, 0, FOR_LONG_MS } } };
    struct fixture f;
    struct pool *pool;

    begin_as(&f, &setup);
    pool = make_pool(&f, &options);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_stopped, pool));
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 1, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* --- leases ----------------------------------------------------------------------------------- */

/* The holder of a slot makes its worker fail. */
static void break_worker(struct fixture *f, uint32_t slot)
{
    CU_ASSERT_TRUE(takes(f, slot));
    CU_ASSERT_EQUAL(result(f, slot, use_and_break), 0);
}

static struct pool_options of_leases(const char *path, struct pool *parent, uint32_t size)
{
    return (struct pool_options){
        .path = path,
        .parent = parent,
        .size = size,
        .settings = { .route = WEIR_ROUTE_PULL, .mailbox = 4, .lease = { true, LEASE_MS, SLOTS } }
    };
}

/* promise P13 */
static void test_takers_of_a_pool_that_stops_are_refused(void)
{
    const struct pool_options options = of_leases("stops", NULL, 1);
    struct fixture f;
    struct pool *pool;

    begin(&f, 1, 0);
    pool = make_pool(&f, &options);
    f.target = pool->pid;
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_one_queued, pool));
    CU_ASSERT_EQUAL(result(&f, 0, use_and_break), 0);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECRASHED));
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_stopped, pool));
    act(&f, 2, take);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_EFULL));
    restart(&f, pool);
    CU_ASSERT_TRUE(takes(&f, 3));
    CU_ASSERT_EQUAL(result(&f, 3, return_done), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise P13: not while one of its pools has a worker. */
static void test_takers_of_a_group_that_stops_are_refused(void)
{
    struct pool_options options = { .path = "group",
                                    .settings = { .route = WEIR_ROUTE_LEAST_LOADED,
                                                  .lease = { true, LEASE_MS, SLOTS } } };
    struct executor *executor;
    struct pool *group, *pools[2];
    struct fixture f;

    begin(&f, 1, 0);
    group = rig_pool(&f.rig, &options);
    options = of_leases("group/a", group, 1);
    pools[0] = make_pool(&f, &options);
    options = of_leases("group/b", group, 1);
    pools[1] = make_pool(&f, &options);
    f.target = group->pid;
    break_worker(&f, 0);
    CU_ASSERT_TRUE(takes(&f, 1)); /* the other one */
    act(&f, 2, take);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_one_queued, group));
    CU_ASSERT_EQUAL(result(&f, 1, use_and_break), 0);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ECRASHED));
    act(&f, 3, take);
    CU_ASSERT_TRUE(answered(&f, 3, WEIR_EFULL));
    restart(&f, pools[1]);
    CU_ASSERT_TRUE(takes(&f, 4));
    CU_ASSERT_EQUAL(result(&f, 4, return_done), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, group, NULL));
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(pools[0], executor);
    pool_destroy(pools[1], executor);
    runtime_leave(executor);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a pool that has stopped refuses and empties its queue",
          test_pool_that_has_stopped_refuses_and_empties_its_queue },
        { "a pool that can grow does not refuse", test_pool_that_can_grow_does_not_refuse },
        { "takers of a pool that stops are refused", test_takers_of_a_pool_that_stops_are_refused },
        { "takers of a group that stops are refused",
          test_takers_of_a_group_that_stops_are_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("stopped", tests);
}
