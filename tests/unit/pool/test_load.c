/* SPDX-License-Identifier: MIT */
/*
 * Goal: the routes that compare pools send to the one with less to do, and a comparison does not
 * read every worker below.
 *
 * Method: two pools of twenty workers each below one that compares; the only thread is held, so
 * that each message stays where it was put. What a pool gets without the one above is not counted
 * there, until the workers are read again.
 */
#include "pool/load.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WORKERS 20u /* more than are read for each comparison */
#define SOME 4u     /* twice as many comparisons are less than there are between two walks */
#define MUCH 100u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *held; /* its worker holds the thread */
    struct pool *top;
    struct pool *children[2];
    uint32_t sent;
};

static struct pool *make(struct fixture *f, const char *path, struct pool *parent,
                         enum weir_route route)
{
    struct spec *spec = parent ? rig_spec(f->probe) : NULL;
    struct pool_options options = { .path = path,
                                    .parent = parent,
                                    .spec = spec,
                                    .size = parent ? WORKERS : 0,
                                    .settings.route = parent ? WEIR_ROUTE_ROUND_ROBIN : route };
    struct pool *pool = rig_pool(&f->rig, &options);

    spec_unref(spec);
    CU_ASSERT_TRUE_FATAL(rig_settled(&f->rig, pool));
    return pool;
}

static void begin(struct fixture *f, enum weir_route route)
{
    f->probe = probe_create();
    f->sent = 0;
    rig_init(&f->rig, 1, 0);
    f->top = make(f, "top", NULL, route);
    f->children[0] = make(f, "top/a", f->top, route);
    f->children[1] = make(f, "top/b", f->top, route);
    f->held = rig_workers(&f->rig, f->probe, "held", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->held->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;
    struct executor *executor;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->held, NULL));
    executor = runtime_enter(f->rig.runtime);
    pool_close(f->top, executor);
    runtime_leave(executor);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->children[i], NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->top, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->sent);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static void send(struct fixture *f, const struct pool *pool, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, f->sent++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .id = 1 }), 0);
}

static uint64_t waiting(const struct fixture *f, uint32_t child)
{
    return rig_ledger(f->children[child]).queued;
}

/* promise P47: also between two walks what the route itself has given counts. */
static void test_pools_get_equally_much(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_LEAST_LOADED);
    send(&f, f.children[0], 1);
    for (uint32_t i = 0; i < MUCH; i++) {
        send(&f, f.top, 1);
        CU_ASSERT_TRUE(waiting(&f, 0) <= waiting(&f, 1) + 1);
        CU_ASSERT_TRUE(waiting(&f, 1) <= waiting(&f, 0) + 1);
    }
    finish(&f);
}

/* promise P47: what a pool got by another way counts after as many comparisons as it has members,
 * not before: they are not read for each. */
static void test_what_came_by_another_way_is_seen_later(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_LEAST_LOADED, WEIR_ROUTE_RANDOM };

    for (size_t r = 0; r < 2; r++) {
        struct fixture f;
        uint64_t before;

        begin(&f, routes[r]);
        send(&f, f.top, SOME); /* by chance, `random` compares a pool with itself */
        send(&f, f.children[0], MUCH);
        before = waiting(&f, 0);
        send(&f, f.top, SOME);
        CU_ASSERT_TRUE(waiting(&f, 0) > before);
        send(&f, f.top, WORKERS);
        before = waiting(&f, 0);
        send(&f, f.top, WORKERS);
        CU_ASSERT_TRUE(waiting(&f, 0) <= before + WORKERS / 2);
        finish(&f);
    }
}

/* promise P47: or after as many microseconds, which counts for a pool that seldom gets any. */
static void test_an_old_count_is_made_again(void)
{
    struct fixture f;
    uint64_t before;

    begin(&f, WEIR_ROUTE_LEAST_LOADED);
    send(&f, f.top, 1);
    send(&f, f.children[0], MUCH);
    rig_advance(&f.rig, 1);
    before = waiting(&f, 0);
    send(&f, f.top, SOME);
    CU_ASSERT_EQUAL(waiting(&f, 0), before);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "equally much", test_pools_get_equally_much },
        { "another way", test_what_came_by_another_way_is_seen_later },
        { "old", test_an_old_count_is_made_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("load", tests);
}
