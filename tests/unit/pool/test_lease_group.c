/* SPDX-License-Identifier: MIT */
/*
 * Goal: a taker of a group of pools gets a worker of any pool below it, waits at the group when
 * none is free, and never in one pool while another has a free worker: also when a pool of the
 * group leaves. Shows promise P37.
 *
 * Method: a group of two pools beside the pool of lease_rig.h; its holders take from the group.
 */
#include "face/lease_figures.h"
#include "face/leases.h"
#include "face/messages.h"
#include "face/pool.h"
#include "pool/change.h"
#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define MEMBERS 2u
#define QUEUE 3u

struct group {
    struct fixture f;
    struct pool *pool;
    struct pool *members[MEMBERS]; /* NULL: it has left */
    uint64_t queued;               /* takers that are to wait in the end */
};

static struct pool *make_group(struct group *g, enum weir_route route)
{
    struct pool_options options = {
        .path = "group", .settings = { .route = route, .lease = { true, LEASE_MS, QUEUE } }
    };
    struct pool *pool = rig_pool(&g->f.rig, &options);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static struct pool *make_member(struct group *g, uint32_t index, uint32_t size)
{
    static const char *const paths[MEMBERS] = { "group/a", "group/b" };
    struct pool_options options = { .path = paths[index],
                                    .parent = g->pool,
                                    .size = size,
                                    .settings = { .route = WEIR_ROUTE_PULL,
                                                  .mailbox = 4,
                                                  .remove = { .timeout_ms = 500 },
                                                  .lease = { true, LEASE_MS, 1 } } };
    struct pool *pool;

    options.spec = rig_spec(g->f.member);
    options.spec->restart = (struct restart){ .max = UINT32_MAX, .within_ms = 1 };
    pool = rig_pool(&g->f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&g->f.rig, pool));
    return pool;
}

static bool all_sleep(void *context)
{
    const struct pool *pool = context;

    return atomic_load(&pool->pull.sleeping) == pool->target;
}

static bool are_free(struct group *g, uint32_t index)
{
    return rig_wait(&g->f.rig, all_sleep, g->members[index]);
}

static void begin_group(struct group *g, enum weir_route route, uint32_t a, uint32_t b)
{
    begin(&g->f, 1, 0);
    g->pool = make_group(g, route);
    g->members[0] = make_member(g, 0, a);
    g->members[1] = make_member(g, 1, b);
    CU_ASSERT_TRUE(are_free(g, 0));
    CU_ASSERT_TRUE(are_free(g, 1));
    g->f.target = g->pool->pid;
}

static void destroy_member(struct group *g, uint32_t index)
{
    struct executor *executor = runtime_enter(g->f.rig.runtime);

    pool_destroy(g->members[index], executor);
    runtime_leave(executor);
    g->members[index] = NULL;
}

static void finish_group(struct group *g)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&g->f.rig, g->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead + ledger.moved);
    for (uint32_t i = 0; i < MEMBERS; i++)
        if (g->members[i])
            destroy_member(g, i);
    finish(&g->f);
}

static bool is_of(struct group *g, uint32_t slot, uint32_t index)
{
    return g->f.slots[slot].lease.pool == g->members[index]->pid;
}

static bool waits(void *context)
{
    const struct group *g = context;

    return rig_stats(g->pool).queued == 1;
}

/* A taker of the group that finds no free worker. */
static void wait_for_one(struct group *g, uint32_t slot)
{
    act(&g->f, slot, take);
    CU_ASSERT_TRUE(rig_wait(&g->f.rig, waits, g));
    CU_ASSERT_EQUAL(atomic_load(&g->f.slots[slot].answer), NOT_YET);
}

/* promise P37 */
static void test_taker_gets_a_worker_of_any_pool(void)
{
    uint32_t of_a = 0;
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 2);
    for (uint32_t slot = 0; slot < 3; slot++) {
        CU_ASSERT_TRUE(takes(&g.f, slot));
        of_a += is_of(&g, slot, 0);
    }
    CU_ASSERT_EQUAL(of_a, 1);
    for (uint32_t slot = 0; slot < 3; slot++)
        CU_ASSERT_EQUAL(result(&g.f, slot, return_done), 0);
    CU_ASSERT_TRUE(are_free(&g, 0));
    CU_ASSERT_TRUE(are_free(&g, 1));
    finish_group(&g);
}

/* promise P37: fifty takes, one after the other. */
static void test_random_takes_use_each_pool(void)
{
    struct group g = { .queued = 0 };
    uint32_t of_a = 0;

    begin_group(&g, WEIR_ROUTE_RANDOM, 2, 2);
    for (uint32_t i = 0; i < 50; i++) {
        CU_ASSERT_TRUE(takes(&g.f, 0));
        of_a += is_of(&g, 0, 0);
        CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    }
    CU_ASSERT_TRUE(of_a > 0 && of_a < 50);
    finish_group(&g);
}

static void test_pool_with_most_free_workers_is_first(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_LEAST_LOADED, 1, 3);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_TRUE(is_of(&g, 0, 1));
    CU_ASSERT_TRUE(takes(&g.f, 1));
    CU_ASSERT_TRUE(is_of(&g, 1, 1));
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&g.f, 1, return_done), 0);
    finish_group(&g);
}

/* promise P37 */
static void test_taker_waits_for_a_worker_of_any_pool(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_RANDOM, 1, 1);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t returned = round % 2;

        CU_ASSERT_TRUE(takes(&g.f, 0));
        CU_ASSERT_TRUE(takes(&g.f, 1));
        atomic_store(&g.f.slots[2].answer, NOT_YET);
        wait_for_one(&g, 2);
        CU_ASSERT_EQUAL(result(&g.f, returned, return_done), 0);
        CU_ASSERT_TRUE(answered(&g.f, 2, 0));
        CU_ASSERT_EQUAL(g.f.slots[2].lease.pool, g.f.slots[returned].lease.pool);
        CU_ASSERT_EQUAL(result(&g.f, 1 - returned, return_done), 0);
        CU_ASSERT_EQUAL(result(&g.f, 2, return_done), 0);
        CU_ASSERT_TRUE(are_free(&g, 0));
        CU_ASSERT_TRUE(are_free(&g, 1));
    }
    finish_group(&g);
}

static bool has_queued(void *context)
{
    const struct group *g = context;

    return rig_stats(g->pool).queued == g->queued;
}

static void test_queue_of_the_group_is_bounded(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_TRUE(takes(&g.f, 1));
    for (uint32_t slot = 2; slot < 2 + QUEUE; slot++) { /* they wait in this order */
        act(&g.f, slot, take);
        g.queued++;
        CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_queued, &g));
    }
    act(&g.f, 5, take);
    CU_ASSERT_TRUE(answered(&g.f, 5, WEIR_EFULL));
    for (uint32_t slot = 0; slot < 2 + QUEUE; slot++) {
        CU_ASSERT_TRUE(answered(&g.f, slot, 0));
        CU_ASSERT_EQUAL(result(&g.f, slot, return_done), 0);
    }
    finish_group(&g);
}

/* promise P10: as a pool of size 0 does; it serves once a pool of it has a worker. */
static void test_group_without_workers_refuses_takers(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_RANDOM, 0, 0);
    act(&g.f, 0, take);
    CU_ASSERT_TRUE(answered(&g.f, 0, WEIR_EFULL));
    CU_ASSERT_EQUAL(rig_resize(&g.f.rig, g.members[1], 1, NULL), 0);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    finish_group(&g);
}

/* A taker of one pool, and one of the group that came first. */
static void test_worker_serves_who_has_waited_longest(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    wait_for_one(&g, 1);
    rig_advance(&g.f.rig, 10);
    g.f.target = g.members[0]->pid;
    act(&g.f, 2, take);
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&g.f, 1, 0));
    CU_ASSERT_EQUAL(atomic_load(&g.f.slots[2].answer), NOT_YET);
    CU_ASSERT_EQUAL(result(&g.f, 1, return_done), 0);
    CU_ASSERT_TRUE(answered(&g.f, 2, 0));
    CU_ASSERT_EQUAL(result(&g.f, 2, return_done), 0);
    finish_group(&g);
}

static bool has_one_queued(void *context)
{
    return rig_stats(context).queued == 1;
}

/* The clock of a thread from outside stands still between its calls. */
static void test_taker_from_outside_has_not_waited_longer(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct group g = { .queued = 0 };
    struct weir_lease lease;
    uint64_t reference;

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    rig_advance(&g.f.rig, 10);
    g.f.target = g.members[0]->pid;
    act(&g.f, 1, take);
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_one_queued, g.members[0]));
    rig_advance(&g.f.rig, 10);
    CU_ASSERT_EQUAL(runtime_take(g.f.rig.runtime, NULL, g.pool->pid, LEASE_MS, &reference), 0);
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&g.f, 1, 0));
    CU_ASSERT_EQUAL(result(&g.f, 1, return_done), 0);
    CU_ASSERT_EQUAL(runtime_await(g.f.rig.runtime, reference, &answer), 0);
    lease = *(const struct weir_lease *)answer.message->data;
    runtime_message_free(g.f.rig.runtime, answer.message);
    CU_ASSERT_EQUAL(runtime_lease_return(g.f.rig.runtime, LEASE_OF_PROGRAM, &lease, WEIR_DONE), 0);
    finish_group(&g);
}

/* promise P37: the pool's worker has found no taker, and the taker that came then does not find the
 * pool among those of the group yet. */
static void test_taker_gets_a_worker_of_a_pool_that_joins(void)
{
    struct group g = { .queued = 0 };
    struct executor *executor;

    begin(&g.f, 1, 0);
    g.pool = make_group(&g, WEIR_ROUTE_LEAST_LOADED);
    g.f.target = g.pool->pid;
    g.members[0] = make_member(&g, 0, 1);
    CU_ASSERT_TRUE(are_free(&g, 0));
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_EQUAL_FATAL(pool_prepare_join(g.pool, 1), 0);
    g.members[1] = make_member(&g, 1, 1);
    CU_ASSERT_TRUE(are_free(&g, 1));
    wait_for_one(&g, 1);
    executor = runtime_enter(g.f.rig.runtime);
    pool_show_joined(g.pool, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(answered(&g.f, 1, 0));
    CU_ASSERT_TRUE(is_of(&g, 1, 1));
    for (uint32_t slot = 0; slot < 2; slot++)
        CU_ASSERT_EQUAL(result(&g.f, slot, return_done), 0);
    finish_group(&g);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

/* promise P37: the taker that waits gets a worker of the other pool. */
static void test_pool_leaves_while_takers_wait(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_LEAST_LOADED, 2, 1);
    for (uint32_t slot = 0; slot < 3; slot++)
        CU_ASSERT_TRUE(takes(&g.f, slot));
    wait_for_one(&g, 3);
    rig_close(&g.f.rig, g.members[0]);
    for (uint32_t slot = 0; slot < 3; slot++)
        if (is_of(&g, slot, 0))
            CU_ASSERT_EQUAL(result(&g.f, slot, return_done), 0);
    CU_ASSERT_TRUE(rig_wait(&g.f.rig, has_ended, g.members[0]));
    CU_ASSERT_EQUAL(atomic_load(&g.f.slots[3].answer), NOT_YET);
    for (uint32_t slot = 0; slot < 3; slot++)
        if (is_of(&g, slot, 1))
            CU_ASSERT_EQUAL(result(&g.f, slot, return_done), 0);
    CU_ASSERT_TRUE(answered(&g.f, 3, 0));
    CU_ASSERT_EQUAL(result(&g.f, 3, return_done), 0);
    finish_group(&g);
}

static void test_closing_group_answers_takers(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_TRUE(takes(&g.f, 1));
    wait_for_one(&g, 2);
    rig_close(&g.f.rig, g.pool);
    CU_ASSERT_TRUE(answered(&g.f, 2, WEIR_ECLOSED));
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&g.f, 1, return_done), 0);
    finish_group(&g);
}

static void change(struct group *g, struct pool *pool, struct pool_change_options options)
{
    struct executor *executor = runtime_enter(g->f.rig.runtime);
    struct pool_change *prepared;

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(pool, executor, &options, &prepared), 0);
    pool_change_commit(prepared, executor);
    runtime_leave(executor);
    spec_unref(options.spec);
}

/* A worker that leaves may refuse the take before the reload does. */
static bool has_one_refused(void *context)
{
    return rig_ledger(context).moved == 1;
}

/* Taker 2 waits for `target`, which loses `lease`: a pool of workers gets others. */
static void lose_leases(struct group *g, struct pool *target)
{
    struct pool_change_options without = { .settings = { .mailbox = 4 } };
    struct pool_leases figures;

    g->f.target = target->pid;
    act(&g->f, 2, take);
    CU_ASSERT_TRUE(rig_wait(&g->f.rig, has_one_queued, target));
    if (target->spec) {
        without.spec = rig_spec(g->f.member);
        without.size = 1;
    }
    change(g, target, without);
    CU_ASSERT_TRUE(answered(&g->f, 2, WEIR_EUNSUPPORTED));
    CU_ASSERT_TRUE(rig_wait(&g->f.rig, has_one_refused, target)); /* counted after the answer */
    pool_look_at_leases(target, &figures);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_REFUSED], 1);
    atomic_store(&g->f.slots[2].answer, NOT_YET);
    act(&g->f, 2, take);
    CU_ASSERT_TRUE(answered(&g->f, 2, WEIR_EUNSUPPORTED));
}

/* promise P39 */
static void test_taker_of_a_group_that_loses_leases_is_notified(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    CU_ASSERT_TRUE(takes(&g.f, 0));
    CU_ASSERT_TRUE(takes(&g.f, 1));
    lose_leases(&g, g.pool);
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&g.f, 1, return_done), 0);
    finish_group(&g);
}

/* promise P39: while a worker is still leased */
static void test_taker_of_a_pool_that_loses_leases_is_notified(void)
{
    struct group g = { .queued = 0 };

    begin_group(&g, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    g.f.target = g.members[0]->pid;
    CU_ASSERT_TRUE(takes(&g.f, 0));
    lose_leases(&g, g.members[0]);
    CU_ASSERT_EQUAL(result(&g.f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&g.f, 0, return_done), 0);
    finish_group(&g);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "group loses leases", test_taker_of_a_group_that_loses_leases_is_notified },
        { "pool loses leases", test_taker_of_a_pool_that_loses_leases_is_notified },
        { "any", test_taker_gets_a_worker_of_any_pool },
        { "random", test_random_takes_use_each_pool },
        { "no workers", test_group_without_workers_refuses_takers },
        { "most free", test_pool_with_most_free_workers_is_first },
        { "waits", test_taker_waits_for_a_worker_of_any_pool },
        { "bounded", test_queue_of_the_group_is_bounded },
        { "longest", test_worker_serves_who_has_waited_longest },
        { "from outside", test_taker_from_outside_has_not_waited_longer },
        { "joins", test_taker_gets_a_worker_of_a_pool_that_joins },
        { "leaves", test_pool_leaves_while_takers_wait },
        { "closes", test_closing_group_answers_takers },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_group", tests);
}
