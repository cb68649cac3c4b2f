/* SPDX-License-Identifier: MIT */
/*
 * Goal: a removed worker that does not finish in time gives its backlog to the others; messages
 * without room are dead as removed, and kept ones are dead as kept; before that the pool waits for
 * it.
 *
 * Method: two workers with room for two; the first keeps two messages for some time, one after the
 * other, the second keeps its own for ever and has two waiting. The test moves the clock.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TIMEOUT_MS 500
#define KEPT_MS 400
#define KEPT_NOTE 7000u

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_KEEP;
}

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

static int keep_for_some_time(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(
        weir_after(self, KEPT_MS, settle, (struct weir_message *)(uintptr_t)message, NULL), 0);
    return WEIR_KEEP;
}

/* As begin, and notes that the time counts. */
static int keep_and_note(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    int verdict = keep_for_some_time(self, probe, message);

    probe_note(probe, KEPT_NOTE);
    return verdict;
}

static bool has_left(void *context)
{
    return rig_stats(context).retiring == 0;
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

static void send_to(struct rig *rig, struct pool *pool, uint32_t index, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send_routed(rig, pool, index, (struct order){ .act = act, .id = id }), 0);
}

/* promise P6 */
static void test_past_the_timeout_the_rest_moves_or_is_dead(void)
{
    struct probe *probe = probe_create();
    struct ledger_reading ledger;
    struct pool *pool;
    struct spec *spec;
    struct rig rig;

    rig_init(&rig, 2, 0);
    spec = rig_spec(probe);
    pool = rig_pool(&rig, &(struct pool_options){ .spec = spec,
                                                  .size = 2,
                                                  .settings.mailbox = 2,
                                                  .settings.remove.timeout_ms = TIMEOUT_MS });
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&rig, pool));
    send_to(&rig, pool, 0, keep_and_note, 1);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, KEPT_NOTE, 1));
    send_to(&rig, pool, 1, keep, 3);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 3, 1));
    send_to(&rig, pool, 0, keep_and_note, 2); /* an idle worker would get them */
    send_to(&rig, pool, 0, probe_done, 6);
    for (uint64_t id = 4; id < 6; id++) /* the first is full */
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = id }), 0);

    /* It is the second that leaves: no worker is idle, and the last ones go first. */
    CU_ASSERT_EQUAL(rig_resize(&rig, pool, 1, NULL), 0);
    rig_advance(&rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, KEPT_NOTE, 2)); /* there is room for one */
    rig_advance(&rig, TIMEOUT_MS - KEPT_MS - 1);
    CU_ASSERT_EQUAL(rig_stats(pool).retiring, 1);
    CU_ASSERT_EQUAL(rig_ledger(pool).dead, 0);
    rig_advance(&rig, 1);
    CU_ASSERT_TRUE(rig_wait(&rig, has_left, pool));
    CU_ASSERT_EQUAL(rig_dead(pool, DEAD_KEPT), 1);
    CU_ASSERT_EQUAL(rig_dead(pool, DEAD_REMOVED), 1);

    rig_advance(&rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_drained(&rig, pool));
    CU_ASSERT_TRUE(rig_end(&rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.moved, 1);
    CU_ASSERT_EQUAL(ledger.done, 4);
    CU_ASSERT_EQUAL(ledger.dead, 2);
    CU_ASSERT_EQUAL(probe_times(probe, 4), 1);
    CU_ASSERT_EQUAL(probe_times(probe, 5), 0);
    rig_finish(&rig);
    probe_destroy(probe);
}

/* One worker that keeps its message for ever, with three waiting. */
static struct pool *make_stuck(struct rig *rig, struct probe *probe, enum weir_route route)
{
    struct spec *spec = rig_spec(probe);
    struct pool *pool = rig_pool(
        rig, &(struct pool_options){ .spec = spec,
                                     .size = 1,
                                     .settings.mailbox = 8,
                                     .settings.route = route,
                                     .settings.remove.timeout_ms = TIMEOUT_MS });

    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(rig, pool));
    CU_ASSERT_EQUAL(rig_send(rig, pool->pid, (struct order){ .act = keep, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(rig, probe, 1, 1));
    for (uint64_t id = 2; id < 5; id++)
        CU_ASSERT_EQUAL(rig_send(rig, pool->pid, (struct order){ .id = id }), 0);
    return pool;
}

/* promise P6: with the queue of a pool that routes by pull, too. */
static void test_pool_that_closes_has_as_long(void)
{
    const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_PULL };

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        struct probe *probe = probe_create();
        struct ledger_reading ledger;
        struct pool *pool;
        struct rig rig;

        rig_init(&rig, 2, 0);
        pool = make_stuck(&rig, probe, routes[i]);
        rig_close(&rig, pool);
        rig_advance(&rig, TIMEOUT_MS - 1);
        CU_ASSERT_FALSE(pool_has_ended(pool));
        CU_ASSERT_EQUAL(rig_ledger(pool).dead, 0);
        rig_advance(&rig, 1);
        CU_ASSERT_TRUE(rig_wait(&rig, has_ended, pool));
        CU_ASSERT_EQUAL(rig_dead(pool, DEAD_KEPT), 1);
        CU_ASSERT_EQUAL(rig_dead(pool, DEAD_REMOVED), 3);
        CU_ASSERT_TRUE(rig_end(&rig, pool, &ledger));
        CU_ASSERT_EQUAL(ledger.accepted, 4);
        CU_ASSERT_EQUAL(ledger.dead, 4);
        CU_ASSERT_EQUAL(probe_count(probe), 1);
        rig_finish(&rig);
        probe_destroy(probe);
    }
}

/* promise P6: a time-out beyond all time is none, and not one that is over. */
static void test_timeout_that_is_beyond_all_time_never_comes(void)
{
    struct probe *probe = probe_create();
    struct ledger_reading ledger;
    struct pool *pool;
    struct spec *spec;
    struct rig rig;

    rig_init(&rig, 2, 0);
    spec = rig_spec(probe);
    pool = rig_pool(&rig, &(struct pool_options){
                              .spec = spec, .size = 1, .settings.remove.timeout_ms = UINT64_MAX });
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&rig, pool));
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ keep_and_note, 1, 0 }), 0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, KEPT_NOTE, 1));
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = 2 }), 0);
    rig_close(&rig, pool);
    rig_advance(&rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_end(&rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 2);
    CU_ASSERT_EQUAL(ledger.dead, 0);
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "past the time-out the rest moves or is dead",
          test_past_the_timeout_the_rest_moves_or_is_dead },
        { "beyond all time", test_timeout_that_is_beyond_all_time_never_comes },
        { "a pool that closes has as long", test_pool_that_closes_has_as_long },
        CU_TEST_INFO_NULL,
    };

    return suite_run("remove_timeout", tests);
}
