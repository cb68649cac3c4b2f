/* SPDX-License-Identifier: MIT */
/*
 * Goal: senders to the parent do not reach a nested pool before it joins, and reach it like any
 * other member afterwards; a parent that closes takes it along.
 *
 * Method: messages to the top before and after, and their handlers.
 */
#include "pool/creation.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *here;
    struct probe *apart;
    struct pool *top;
    struct pool *nested[3];
    uint32_t count;
};

static struct pool *nest(struct fixture *f, struct probe *probe, const char *path, bool apart)
{
    struct spec *spec = rig_spec(probe);
    struct pool *pool = rig_pool(&f->rig, &(struct pool_options){ .path = path,
                                                                  .parent = f->top,
                                                                  .apart = apart,
                                                                  .spec = spec,
                                                                  .size = 1,
                                                                  .settings.mailbox = 8 });

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    f->nested[f->count++] = pool;
    return pool;
}

static void begin(struct fixture *f)
{
    f->here = probe_create();
    f->apart = probe_create();
    rig_init(&f->rig, 2, 0);
    f->top = rig_pool(&f->rig, &(struct pool_options){ .path = "top" });
    f->count = 0;
    (void)nest(f, f->here, "top/first", false);
}

static void destroy(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_destroy(pool, executor);
    runtime_leave(executor);
}

/* Ends the top with everything below it; in all `done` messages were handled. */
static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->top, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    for (uint32_t i = 0; i < f->count; i++) {
        CU_ASSERT_TRUE(pool_has_ended(f->nested[i]));
        destroy(f, f->nested[i]);
    }
    rig_finish(&f->rig);
    CU_ASSERT_EQUAL(atomic_load(&f->apart->opened), atomic_load(&f->apart->closed));
    probe_destroy(f->here);
    probe_destroy(f->apart);
}

static void join(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_join(pool, executor);
    runtime_leave(executor);
}

static void show(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_show_joined(f->top, executor);
    runtime_leave(executor);
}

static void send_to_top(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->top->pid, (struct order){ .id = 1 }), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->top));
    }
}

/* promises R2 and P1 */
static void test_pool_made_apart_is_seen_only_after_it_joined(void)
{
    struct fixture f;
    struct pool *second;
    struct pool *third;
    uint64_t epoch;

    begin(&f);
    epoch = rig_stats(f.top).epoch;
    second = nest(&f, f.apart, "top/second", true);
    third = nest(&f, f.apart, "top/third", true);
    CU_ASSERT_EQUAL(pool_prepare_join(f.top, 2), 0);
    send_to_top(&f, 6);
    CU_ASSERT_EQUAL(probe_count(f.apart), 0);
    CU_ASSERT_EQUAL(rig_stats(f.top).live, 1);
    CU_ASSERT_EQUAL(rig_stats(f.top).epoch, epoch);
    join(&f, second);
    join(&f, third);
    send_to_top(&f, 2);
    CU_ASSERT_EQUAL(probe_count(f.apart), 0);
    show(&f);
    CU_ASSERT_EQUAL(rig_stats(f.top).live, 3);
    CU_ASSERT_TRUE(rig_stats(f.top).epoch > epoch);
    send_to_top(&f, 6);
    CU_ASSERT_EQUAL(probe_count(f.here), 10);
    CU_ASSERT_EQUAL(probe_count(f.apart), 4);
    CU_ASSERT_EQUAL(rig_ledger(second).done, 2);
    CU_ASSERT_EQUAL(rig_ledger(third).done, 2);
    finish(&f, 14);
}

/* promise R2: of a reload that was given up nothing stays. */
static void test_pool_that_never_joined_ends_alone(void)
{
    struct fixture f;
    struct pool *second;

    begin(&f);
    second = nest(&f, f.apart, "top/second", true);
    CU_ASSERT_EQUAL(pool_prepare_join(f.top, 1), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, second, NULL));
    f.count--; /* it is freed */
    pool_forget_join(f.top);
    send_to_top(&f, 2);
    CU_ASSERT_EQUAL(probe_count(f.here), 2);
    finish(&f, 2);
}

/* promise P8 */
static void test_closing_parent_takes_along_what_joins_it(void)
{
    struct fixture f;
    struct pool *second;
    int status;

    begin(&f);
    second = nest(&f, f.apart, "top/second", true);
    CU_ASSERT_EQUAL(pool_prepare_join(f.top, 1), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.top->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.here->gate, 1));
    rig_close(&f.rig, f.top); /* the worker at the gate delays its end */
    CU_ASSERT_EQUAL(rig_send(&f.rig, second->pid, (struct order){ .id = 1 }), 0);
    join(&f, second);
    show(&f);
    /* It closes, and may have ended by now. */
    status = rig_send(&f.rig, second->pid, (struct order){ .id = 2 });
    CU_ASSERT_TRUE(status == WEIR_ECLOSED || status == WEIR_ETERMINATED);
    gate_open(&f.here->gate);
    finish(&f, 2);
}

/* promise C11: one of many is not shown as soon as it is made. */
static void test_many_are_shown_at_once(void)
{
    struct fixture f;
    struct members *before;

    begin(&f);
    CU_ASSERT_EQUAL(pool_prepare_join(f.top, 2), 0);
    before = atomic_load(&f.top->members);
    (void)nest(&f, f.apart, "top/second", false);
    (void)nest(&f, f.apart, "top/third", false);
    CU_ASSERT_PTR_EQUAL(atomic_load(&f.top->members), before);
    send_to_top(&f, 2);
    CU_ASSERT_EQUAL(probe_count(f.apart), 0);
    show(&f);
    send_to_top(&f, 6);
    CU_ASSERT_EQUAL(probe_count(f.here), 4);
    CU_ASSERT_EQUAL(probe_count(f.apart), 4);
    finish(&f, 8);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "seen after", test_pool_made_apart_is_seen_only_after_it_joined },
        { "many", test_many_are_shown_at_once },
        { "never joined", test_pool_that_never_joined_ends_alone },
        { "closing parent", test_closing_parent_takes_along_what_joins_it },
        CU_TEST_INFO_NULL,
    };

    return suite_run("join", tests);
}
