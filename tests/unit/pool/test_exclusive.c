/* SPDX-License-Identifier: MIT */
/*
 * Goal: workers of an exclusive behaviour are replaced one after the other: the old ones end before
 * the new ones open; senders get FULL meanwhile; after an aborted change, workers like the old ones
 * open when the new ones have ended, by the ordinary restart policy.
 *
 * Method: two probes count the opens and closes of the old and the new workers; one old worker
 * waits at a gate.
 */
#include "pool/change.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 4u

struct fixture {
    struct rig rig;
    struct probe *old;
    struct probe *new;
    struct spec *old_spec;
    struct spec *new_spec;
    struct pool *pool;
    struct pool_change *change;
};

static void begin(struct fixture *f)
{
    struct pool_options options = { .size = 2, .settings.mailbox = LIMIT };

    f->old = probe_create();
    f->new = probe_create();
    f->old->act = probe_wait;
    rig_init(&f->rig, 4, 0);
    f->old_spec = rig_spec(f->old);
    f->new_spec = rig_spec(f->new);
    options.spec = f->old_spec;
    f->pool = rig_pool(&f->rig, &options);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

/* One worker waits inside a message, and no sender waits for it. */
static void hold_one(struct fixture *f)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->old->gate, 1));
}

static bool has_stopped(void *context)
{
    return pool_change_has_stopped(context);
}

static void stop(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL(pool_change_stop(f->pool, executor), 0);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    CU_ASSERT_FALSE(pool_change_has_stopped(f->pool)); /* one is held */
    gate_open(&f->old->gate);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_stopped, f->pool));
    CU_ASSERT_EQUAL(atomic_load(&f->old->closed), 2);
    CU_ASSERT_EQUAL(atomic_load(&f->new->opened), 0);
    CU_ASSERT_EQUAL(pool_target(f->pool), 2);
}

static bool is_prepared(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(context, &opening);
    return opening.starting == 0;
}

static void open_new(struct fixture *f, uint32_t size)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change_options options = { .spec = f->new_spec,
                                           .size = size,
                                           .settings.mailbox = LIMIT };

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &f->change), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_prepared, f->pool));
}

static void commit(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_change_commit(f->change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

/* The clock moves meanwhile: a failed worker is tried again. */
static bool is_settled_later(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 10);
    return rig_stats(f->pool).live == pool_target(f->pool);
}

/* The new workers end, then others like the old ones open. */
static void go_back(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_change_abort(f->change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_stopped, f->pool));
    CU_ASSERT_EQUAL(atomic_load(&f->new->opened), atomic_load(&f->new->closed));
    executor = runtime_enter(f->rig.runtime);
    CU_ASSERT_EQUAL(pool_change_reopen(f->pool, executor), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_settled_later, f));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->old->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done);
    CU_ASSERT_EQUAL(atomic_load(&f->old->opened), atomic_load(&f->old->closed));
    CU_ASSERT_EQUAL(atomic_load(&f->new->opened), atomic_load(&f->new->closed));
    rig_finish(&f->rig);
    spec_unref(f->old_spec);
    spec_unref(f->new_spec);
    probe_destroy(f->old);
    probe_destroy(f->new);
}

/* promise R11 */
static void test_new_workers_open_after_the_old_have_ended(void)
{
    static struct fixture f;

    begin(&f);
    hold_one(&f);
    stop(&f);
    open_new(&f, 3);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), WEIR_EFULL);
    commit(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.new->opened), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 2); /* none was opened again */
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 4 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.new, 4, 1));
    finish(&f);
}

/* promise R11 */
static void test_reopen_opens_workers_like_the_old_ones(void)
{
    static struct fixture f;

    begin(&f);
    hold_one(&f);
    stop(&f);
    open_new(&f, 3);
    go_back(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.old, 3, 1));
    finish(&f);
}

static int fail_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) == 0 ? WEIR_EINVALID : 0;
}

/* promise R11 */
static void test_reopened_worker_that_fails_is_tried_again(void)
{
    static struct fixture f;

    begin(&f);
    hold_one(&f);
    stop(&f);
    f.old->opens = fail_once;
    open_new(&f, 2);
    go_back(&f);
    CU_ASSERT(atomic_load(&f.old->refused) > 0);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 4);
    finish(&f);
}

/* A resize while the workers are stopped sets the target; as many are there after the reopening. */
static void expect_reopen_after_resize(uint32_t target)
{
    static struct fixture f;
    struct weir_resized resized;

    begin(&f);
    hold_one(&f);
    stop(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, target, &resized), 0);
    open_new(&f, 3);
    go_back(&f);
    CU_ASSERT_EQUAL(pool_target(f.pool), target);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, target);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, resized.epoch);
    finish(&f);
}

/* promises P7 and Z3 */
static void test_reopening_after_a_resize_keeps_the_resized_target(void)
{
    expect_reopen_after_resize(3);
    expect_reopen_after_resize(5);
    expect_reopen_after_resize(1);
    expect_reopen_after_resize(0);
}

static void test_pool_that_closes_meanwhile_ends(void)
{
    static struct fixture f;

    begin(&f);
    hold_one(&f);
    stop(&f);
    open_new(&f, 3);
    rig_close(&f.rig, f.pool);
    go_back(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 2);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one after the other", test_new_workers_open_after_the_old_have_ended },
        { "refused", test_reopen_opens_workers_like_the_old_ones },
        { "fails again", test_reopened_worker_that_fails_is_tried_again },
        { "resized", test_reopening_after_a_resize_keeps_the_resized_target },
        { "closed", test_pool_that_closes_meanwhile_ends },
        CU_TEST_INFO_NULL,
    };

    return suite_run("exclusive", tests);
}
