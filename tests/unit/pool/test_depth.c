/* SPDX-License-Identifier: MIT */
/*
 * Goal: through four levels of pools a sender gets FULL exactly when no eligible worker has room,
 * for the route of each level.
 *
 * Method: eight pools of two workers below three levels of pairs; the only thread waits inside a
 * message, so no message leaves a mailbox. The number of accepted messages is the sum of the
 * limits, worker by worker.
 */
#include <stdio.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LEVELS 4u
#define POOLS 15u /* 1 + 2 + 4 + 8 */
#define FIRST_LEAF 7u
#define LEAVES (POOLS - FIRST_LEAF)
#define SIZE 2u
#define WORKERS (LEAVES * SIZE)
#define LIMIT 3u
#define KEYS 4096u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pools[POOLS]; /* as in a heap: the members of i are 2i + 1 and 2i + 2 */
    struct pool *aside;        /* its worker holds the thread */
};

static void make_pool(struct fixture *f, uint32_t index, const enum weir_route *routes)
{
    uint32_t level = index == 0 ? 0 : index < 3 ? 1 : index < FIRST_LEAF ? 2 : 3;
    char path[16];
    struct pool_options options = { .path = path, .settings.route = routes[level] };

    (void)snprintf(path, sizeof path, "p%u", index);
    if (index > 0)
        options.parent = f->pools[(index - 1) / 2];
    if (index >= FIRST_LEAF) {
        options.spec = rig_spec(f->probe);
        options.size = SIZE;
        options.settings.mailbox = LIMIT;
    }
    f->pools[index] = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pools[index]);
}

static void begin(struct fixture *f, const enum weir_route *routes)
{
    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    for (uint32_t i = 0; i < POOLS; i++)
        make_pool(f, i, routes);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pools[0]));
    f->aside = rig_workers(&f->rig, f->probe, "aside", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->aside->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
}

static void finish(struct fixture *f, uint64_t accepted)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pools[0]));
    ledger = rig_ledger(f->pools[0]);
    /* While the thread waits, idle workers may get the messages of busy ones. */
    CU_ASSERT_EQUAL(ledger.accepted - ledger.moved, accepted);
    CU_ASSERT_EQUAL(ledger.done, accepted);
    rig_close(&f->rig, f->pools[0]);
    for (uint32_t i = POOLS; i-- > 0;)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->pools[i], NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->aside, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Each key until its owner refuses it; other routes do not look at keys. */
static uint32_t fill(struct fixture *f)
{
    uint32_t taken = 0;

    for (uint64_t key = 1; key <= KEYS; key++) {
        int status;

        while ((status = rig_send_key(&f->rig, f->pools[0]->pid, key, (struct order){ 0 })) == 0)
            taken++;
        CU_ASSERT_EQUAL(status, WEIR_EFULL);
    }
    return taken;
}

static void expect(const enum weir_route *routes, uint32_t taken, uint32_t copies)
{
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, routes);
    CU_ASSERT_EQUAL(fill(&f), taken);
    stats = rig_stats(f.pools[0]);
    CU_ASSERT_EQUAL(stats.queued, taken * copies);
    CU_ASSERT_EQUAL(stats.refused, KEYS);
    for (uint32_t i = FIRST_LEAF; i < POOLS; i++)
        CU_ASSERT_EQUAL(rig_stats(f.pools[i]).queued, taken * copies / LEAVES);
    finish(&f, taken * copies);
}

/* promises P3, P2 and S5 */
static void test_each_route_takes_the_sum_of_the_limits(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED,
                                              WEIR_ROUTE_RANDOM, WEIR_ROUTE_HASH };

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        const enum weir_route all[LEVELS] = { routes[i], routes[i], routes[i], routes[i] };

        expect(all, WORKERS * LIMIT, 1);
    }
}

/* promises P3 and P12: size x mailbox in each queue. */
static void test_queues_at_the_bottom_take_the_sum_of_theirs(void)
{
    const enum weir_route routes[LEVELS] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_HASH,
                                             WEIR_ROUTE_LEAST_LOADED, WEIR_ROUTE_PULL };

    expect(routes, WORKERS * LIMIT, 1);
}

/* promises P3 and P14: one place of every worker for each message. */
static void test_broadcast_at_each_level_takes_one_limit(void)
{
    const enum weir_route routes[LEVELS] = { WEIR_ROUTE_BROADCAST, WEIR_ROUTE_BROADCAST,
                                             WEIR_ROUTE_BROADCAST, WEIR_ROUTE_BROADCAST };

    expect(routes, LIMIT, WORKERS);
}

/* promises P3 and P14: a nested pool counts as one member. */
static void test_broadcast_above_others_takes_what_each_member_has(void)
{
    static const enum weir_route routes[][LEVELS] = {
        { WEIR_ROUTE_BROADCAST, WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_RANDOM,
          WEIR_ROUTE_LEAST_LOADED },
        { WEIR_ROUTE_BROADCAST, WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_PULL },
        { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_BROADCAST, WEIR_ROUTE_RANDOM, WEIR_ROUTE_ROUND_ROBIN },
    };

    expect(routes[0], WORKERS / 2 * LIMIT, 2);
    expect(routes[1], WORKERS / 2 * LIMIT, 2);
    expect(routes[2], WORKERS / 2 * LIMIT, 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "routes", test_each_route_takes_the_sum_of_the_limits },
        { "pull", test_queues_at_the_bottom_take_the_sum_of_theirs },
        { "broadcast", test_broadcast_at_each_level_takes_one_limit },
        { "mixed", test_broadcast_above_others_takes_what_each_member_has },
        CU_TEST_INFO_NULL,
    };

    return suite_run("depth", tests);
}
