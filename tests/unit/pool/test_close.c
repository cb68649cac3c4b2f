/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool that closes refuses new messages at once, finishes accepted ones, ends each worker
 * once, and releases its name.
 *
 * Method: pools closed while their workers wait at a gate, or have just been made; nested ones from
 * the top.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
};

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise P8 */
static void test_close_refuses_the_new_and_finishes_the_accepted(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *pool;

    begin(&f);
    pool = rig_workers(&f.rig, f.probe, "pool", 2, 8);
    for (uint64_t id = 0; id < 10; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .act = probe_wait, .id = id }),
                        0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    rig_close(&f.rig, pool);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 99 }), WEIR_ECLOSED);
    CU_ASSERT_FALSE(pool_has_ended(pool));
    rig_close(&f.rig, pool); /* once more is nothing more */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 10);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), WEIR_END_SHUTDOWN);
    finish(&f);
}

static void test_pool_closed_before_its_workers_opened_ends(void)
{
    struct fixture f;
    struct spec *spec;

    begin(&f);
    spec = rig_spec(f.probe);
    for (int i = 0; i < 20; i++) {
        struct pool *pool = rig_pool(&f.rig, &(struct pool_options){ .spec = spec, .size = 3 });

        CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    }
    spec_unref(spec);
    finish(&f);
}

static void test_empty_pool_ends(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_TRUE(rig_end(&f.rig, rig_pool(&f.rig, &(struct pool_options){ .path = "a" }), NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, rig_workers(&f.rig, f.probe, "b", 0, 1), NULL));
    finish(&f);
}

/* promise A5 */
static void test_path_is_taken_while_the_pool_lives(void)
{
    struct fixture f;
    struct spec *spec;
    struct pool *pool;

    begin(&f);
    spec = rig_spec(f.probe);
    pool = rig_workers(&f.rig, f.probe, "path", 1, 1);
    CU_ASSERT_PTR_NULL(
        rig_pool(&f.rig, &(struct pool_options){ .path = "path", .spec = spec, .size = 2 }));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    pool = rig_workers(&f.rig, f.probe, "path", 1, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    spec_unref(spec);
    finish(&f);
}

/* promises P8 and L2: the parent keeps the counts of nested pools that have ended. */
static void test_closing_the_top_drains_what_is_nested(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *top;
    struct pool *nested;
    struct spec *spec;
    struct executor *executor;

    begin(&f);
    spec = rig_spec(f.probe);
    top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    nested = rig_pool(
        &f.rig,
        &(struct pool_options){
            .path = "top/nested", .parent = top, .spec = spec, .size = 1, .settings.mailbox = 8 });
    CU_ASSERT_TRUE(rig_settled(&f.rig, top));
    for (uint64_t id = 0; id < 5; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .act = probe_wait, .id = id }),
                        0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    rig_close(&f.rig, top);
    CU_ASSERT_EQUAL(rig_send(&f.rig, nested->pid, (struct order){ .id = 9 }), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 9 }), WEIR_ECLOSED);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, top, &ledger));
    CU_ASSERT_TRUE(pool_has_ended(nested));
    CU_ASSERT_EQUAL(ledger.done, 5);
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(nested, executor);
    runtime_leave(executor);
    spec_unref(spec);
    finish(&f);
}

/* --- killing -------------------------------------------------------------------------------- */

#define DOWN 7000u /* a note: DOWN + reason of the end */

static int note_down(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    probe_note(probe, DOWN + (uint64_t)((const struct weir_end *)message->data)->reason);
    return WEIR_DONE;
}

/* Watches the pool in `argument`, and asks it to end as the note says. */
static int end_as(struct weir_self *self, weir_pid pool, enum weir_end_reason reason)
{
    CU_ASSERT_EQUAL(weir_monitor(self, pool, NULL), 0);
    CU_ASSERT_EQUAL(weir_exit(self, pool, reason), 0);
    return WEIR_DONE;
}

static int kill_pool(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    return end_as(self, probe_order(message)->argument, WEIR_END_KILL);
}

static int shut_down_pool(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    (void)probe;
    return end_as(self, probe_order(message)->argument, WEIR_END_SHUTDOWN);
}

/* A nested worker that is held with a backlog of three, while another one ends the pool above. */
static void end_by(probe_act *act, enum weir_end_reason reason, uint64_t done)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct probe *other = probe_create();
    struct pool *top, *nested, *others;
    struct spec *spec;
    struct executor *executor;

    other->tied = note_down;
    begin(&f);
    spec = rig_spec(f.probe);
    others = rig_workers(&f.rig, other, "others", 1, 1);
    top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    nested = rig_pool(
        &f.rig,
        &(struct pool_options){
            .path = "top/nested", .parent = top, .spec = spec, .size = 1, .settings.mailbox = 8 });
    CU_ASSERT_TRUE(rig_settled(&f.rig, top));
    for (uint64_t id = 0; id < 4; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .act = probe_wait, .id = id }),
                        0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, others->pid, (struct order){ .act = act, .id = 50, .argument = top->pid }),
        0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, other, 50, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, others));
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 9 }), WEIR_ECLOSED);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, top, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.dead, 4 - done);
    CU_ASSERT_EQUAL(probe_count(f.probe), done);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), reason);
    CU_ASSERT_TRUE(rig_noted(&f.rig, other, DOWN + reason, 1));
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(nested, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_end(&f.rig, others, NULL));
    spec_unref(spec);
    finish(&f);
    probe_destroy(other);
}

/* promise A19 */
static void test_killed_pool_ends_behind_the_messages_in_hand(void)
{
    end_by(kill_pool, WEIR_END_KILL, 1);
}

/* promise A19 */
static void test_pool_that_is_shut_down_finishes_what_it_accepted(void)
{
    end_by(shut_down_pool, WEIR_END_SHUTDOWN, 4);
}

/* Comes to the gate, and then asks its own pool to end, as its argument says. */
static int end_own_pool(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    enum weir_end_reason reason = (enum weir_end_reason)probe_order(message)->argument;

    CU_ASSERT_TRUE(gate_pass(&probe->gate));
    CU_ASSERT_EQUAL(weir_exit(self, weir_pool(self), reason), 0);
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), 0); /* not before this turn is over */
    return WEIR_DONE;
}

static void end_from_within(enum weir_end_reason reason, uint64_t done)
{
    struct order order = { .act = end_own_pool, .argument = (uint64_t)reason };
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *pool;

    begin(&f);
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, order), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = id }), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.dead, 4 - done);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), reason);
    finish(&f);
}

/* promise A19 */
static void test_worker_asks_its_own_pool_to_end_in_its_turn(void)
{
    end_from_within(WEIR_END_SHUTDOWN, 4);
    end_from_within(WEIR_END_KILL, 1);
}

/* promise L2: a nested pool that ends alone takes nothing out of the figures above it. */
static void test_figures_of_an_ended_pool_stay_with_its_parent(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *top;
    struct pool *nested;
    struct spec *spec;
    uint64_t epoch;

    begin(&f);
    spec = rig_spec(f.probe);
    top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    nested = rig_pool(
        &f.rig,
        &(struct pool_options){
            .path = "top/nested", .parent = top, .spec = spec, .size = 1, .settings.mailbox = 8 });
    CU_ASSERT_TRUE(rig_settled(&f.rig, top));
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .act = probe_fail, .id = 1 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, top));
    epoch = rig_stats(top).epoch;
    CU_ASSERT_TRUE(rig_end(&f.rig, nested, NULL));
    CU_ASSERT_EQUAL(rig_stats(top).accepted, 2);
    CU_ASSERT_EQUAL(rig_stats(top).dead, 1);
    CU_ASSERT_EQUAL(rig_stats(top).restarts, 1);
    CU_ASSERT_TRUE(rig_stats(top).epoch >= epoch);
    CU_ASSERT_TRUE(rig_end(&f.rig, top, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 1);
    spec_unref(spec);
    finish(&f);
}

static void pause_pool(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_pause(pool, true, executor);
    runtime_leave(executor);
}

/* promise Z4: also when it was paused after it was closed, with any route. */
static void test_pool_that_closes_is_never_full(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_HASH,
                                              WEIR_ROUTE_PULL, WEIR_ROUTE_BROADCAST };

    for (uint32_t i = 0; i < 2 * sizeof routes / sizeof routes[0]; i++) {
        struct pool_options options = { .size = 1 + i % 2,
                                        .settings.mailbox = 1,
                                        .settings.route = routes[i / 2] };
        struct pool *pool;
        struct fixture f;

        begin(&f);
        options.spec = rig_spec(f.probe);
        pool = rig_pool(&f.rig, &options);
        CU_ASSERT_TRUE(rig_settled(&f.rig, pool));
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, pool->pid, 1, (struct order){ .act = probe_wait }), 0);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
        rig_close(&f.rig, pool);
        pause_pool(&f, pool);
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, pool->pid, 1, (struct order){ .id = 2 }),
                        WEIR_ECLOSED);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
        spec_unref(options.spec);
        finish(&f);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "refuses and finishes", test_close_refuses_the_new_and_finishes_the_accepted },
        { "not open yet", test_pool_closed_before_its_workers_opened_ends },
        { "empty", test_empty_pool_ends },
        { "path", test_path_is_taken_while_the_pool_lives },
        { "nested", test_closing_the_top_drains_what_is_nested },
        { "figures", test_figures_of_an_ended_pool_stay_with_its_parent },
        { "killed", test_killed_pool_ends_behind_the_messages_in_hand },
        { "shut down", test_pool_that_is_shut_down_finishes_what_it_accepted },
        { "never full", test_pool_that_closes_is_never_full },
        { "from within", test_worker_asks_its_own_pool_to_end_in_its_turn },
        CU_TEST_INFO_NULL,
    };

    return suite_run("close", tests);
}
