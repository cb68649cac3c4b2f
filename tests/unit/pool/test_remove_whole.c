/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool that is removed as a whole treats its mailboxes as its `remove` says: finishes them,
 * hands them to the pool above, or makes them dead at once; one that closes always finishes them.
 *
 * Method: one worker that keeps its message for some time and has three waiting. The test moves the
 * clock, so immediate effects show before.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define KEPT_MS 1000
#define KEPT 250 /* the note of a kept message */
#define BEHIND 3u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct probe *sibling;
    struct pool *top; /* NULL: the pool is at the top itself */
    struct pool *pool;
    struct pool *other;
};

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

static int keep_for_some_time(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    CU_ASSERT_EQUAL(
        weir_after(self, KEPT_MS, settle, (struct weir_message *)(uintptr_t)message, NULL), 0);
    probe_note(probe, KEPT); /* from here on the test may move the clock */
    return WEIR_KEEP;
}

static struct pool *make(struct fixture *f, struct probe *probe, struct pool_options options)
{
    struct spec *spec = rig_spec(probe);
    struct pool *pool;

    options.parent = f->top;
    options.spec = spec;
    options.size = 1;
    options.settings.mailbox = 8;
    pool = rig_pool(&f->rig, &options);
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static void begin(struct fixture *f, struct pool_options options, bool nested,
                  enum weir_route route)
{
    f->probe = probe_create();
    f->sibling = probe_create();
    f->other = NULL;
    rig_init(&f->rig, 2, 0);
    f->top = nested ? rig_pool(&f->rig,
                               &(struct pool_options){ .path = "top", .settings.route = route })
                    : NULL;
    options.path = nested ? "top/pool" : "pool";
    f->pool = make(f, f->probe, options);
    CU_ASSERT_EQUAL(
        rig_send(&f->rig, f->pool->pid, (struct order){ .act = keep_for_some_time, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, KEPT, 1));
    for (uint64_t id = 2; id < 2 + BEHIND; id++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = id }), 0);
    if (nested)
        f->other = make(f, f->sibling, (struct pool_options){ .path = "top/other" });
}

static void leave(struct fixture *f, void (*way)(struct pool *, struct executor *))
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    way(f->pool, executor);
    runtime_leave(executor);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

static bool has_shed(void *context)
{
    return rig_stats(context).queued == 0;
}

/* The kept message is settled in its time; `ledger` has the results. */
static void finish(struct fixture *f, struct ledger_reading *ledger)
{
    rig_advance(&f->rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, f->pool));
    *ledger = rig_ledger(f->pool);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    if (f->other)
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->other));
    if (f->other)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->other, NULL));
    if (f->top)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->top, NULL));
    rig_finish(&f->rig);
}

static void forget(struct fixture *f)
{
    probe_destroy(f->probe);
    probe_destroy(f->sibling);
}

static void expect(const struct ledger_reading *ledger, uint64_t done, uint64_t dead,
                   uint64_t moved)
{
    CU_ASSERT_EQUAL(ledger->accepted, 1 + BEHIND);
    CU_ASSERT_EQUAL(ledger->done, done);
    CU_ASSERT_EQUAL(ledger->dead, dead);
    CU_ASSERT_EQUAL(ledger->moved, moved);
}

/* promise P6: also of the queue of a pool that routes by pull. */
static void test_removed_pool_that_discards_does_so_at_once(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_PULL };

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        struct ledger_reading ledger;
        struct fixture f;

        begin(&f,
              (struct pool_options){ .settings.remove.mode = WEIR_REMOVE_DISCARD,
                                     .settings.route = routes[i] },
              false, 0);
        leave(&f, pool_remove);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_shed, f.pool));
        CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REMOVED), BEHIND);
        CU_ASSERT_FALSE(pool_has_ended(f.pool));
        finish(&f, &ledger);
        expect(&ledger, 1, BEHIND, 0);
        CU_ASSERT_EQUAL(probe_count(f.probe), 2); /* the kept one, twice */
        forget(&f);
    }
}

/* promise P6 */
static void test_removed_member_hands_its_mailboxes_to_the_pool_above(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, (struct pool_options){ .settings.remove.mode = WEIR_REMOVE_REROUTE }, true,
          WEIR_ROUTE_ROUND_ROBIN);
    leave(&f, pool_remove);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_shed, f.pool));
    CU_ASSERT_FALSE(pool_has_ended(f.pool));
    for (uint64_t id = 2; id < 2 + BEHIND; id++)
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.sibling, id, 1));
    finish(&f, &ledger);
    expect(&ledger, 1, 0, BEHIND);
    CU_ASSERT_EQUAL(probe_count(f.probe), 2); /* the kept one, twice */
    CU_ASSERT_EQUAL(probe_count(f.sibling), BEHIND);
    forget(&f);
}

/* promise P6: no other member could take it; nor may a broadcast, which would give it to every
 * member. */
static void test_removed_pool_without_others_finishes(void)
{
    for (int nested = 0; nested < 2; nested++) {
        struct ledger_reading ledger;
        struct fixture f;

        begin(&f, (struct pool_options){ .settings.remove.mode = WEIR_REMOVE_REROUTE }, nested,
              WEIR_ROUTE_BROADCAST);
        leave(&f, pool_remove);
        finish(&f, &ledger);
        expect(&ledger, 1 + BEHIND, 0, 0);
        CU_ASSERT_EQUAL(probe_count(f.sibling), 0);
        forget(&f);
    }
}

/* promise P8 */
static void test_pool_that_closes_finishes_whatever_its_mode(void)
{
    static const enum weir_remove modes[] = { WEIR_REMOVE_DRAIN, WEIR_REMOVE_REROUTE,
                                              WEIR_REMOVE_DISCARD };

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct ledger_reading ledger;
        struct fixture f;

        begin(&f, (struct pool_options){ .settings.remove.mode = modes[i] }, false, 0);
        leave(&f, pool_close);
        finish(&f, &ledger);
        expect(&ledger, 1 + BEHIND, 0, 0);
        forget(&f);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "discards", test_removed_pool_that_discards_does_so_at_once },
        { "hands over", test_removed_member_hands_its_mailboxes_to_the_pool_above },
        { "finishes", test_removed_pool_without_others_finishes },
        { "closes", test_pool_that_closes_finishes_whatever_its_mode },
        CU_TEST_INFO_NULL,
    };

    return suite_run("pools that are removed", tests);
}
