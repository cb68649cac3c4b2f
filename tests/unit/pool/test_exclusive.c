/*
 * Goal: workers of which two cannot live side by side are replaced one after the other: the old end
 * before the new open; senders are told FULL meanwhile; an abort opens workers like the old ones.
 *
 * Method: workers that count how many of them are open at once, changed while one is held.
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
    struct pool_options options = { .size = 2, .limit = LIMIT };

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

static void prepare(struct fixture *f, uint32_t size)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change_options options = {
        .spec = f->new_spec, .exclusive = true, .size = size, .limit = LIMIT
    };

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &f->change), 0);
    runtime_leave(executor);
}

/* One worker holds a message, whose sender waits for nothing. */
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

    pool_change_stop(f->change, executor);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    CU_ASSERT_FALSE(pool_change_has_stopped(f->change)); /* one is held */
    gate_open(&f->old->gate);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_stopped, f->change));
    CU_ASSERT_EQUAL(atomic_load(&f->old->closed), 2);
    CU_ASSERT_EQUAL(atomic_load(&f->new->opened), 0);
}

static bool is_prepared(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(context, &opening);
    return opening.starting == 0;
}

static void open_new(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_change_begin(f->change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_prepared, f->pool));
}

static void decide(struct fixture *f, void (*how)(struct pool_change *, struct executor *))
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    how(f->change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
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
    prepare(&f, 3);
    CU_ASSERT_EQUAL(atomic_load(&f.new->opened), 0);
    hold_one(&f);
    stop(&f);
    open_new(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), WEIR_EFULL);
    decide(&f, pool_change_commit);
    CU_ASSERT_EQUAL(pool_target(f.pool), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.new->opened), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 2); /* none was opened again */
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 4 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.new, 4, 1));
    finish(&f);
}

/* promise R11 */
static void test_abort_opens_workers_like_the_old_ones(void)
{
    static struct fixture f;

    begin(&f);
    prepare(&f, 3);
    hold_one(&f);
    stop(&f);
    open_new(&f);
    decide(&f, pool_change_abort);
    CU_ASSERT_EQUAL(pool_target(f.pool), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.old, 3, 1));
    finish(&f);
}

/* Grows while it is stopped, when none of the old is left to count on; then the change is aborted:
 * the target is what there is, and who reads it sees that it is another one. */
static void expect_abort_after_resize(uint32_t target, uint32_t left)
{
    static struct fixture f;
    struct weir_resized told;

    begin(&f);
    prepare(&f, 3);
    hold_one(&f);
    stop(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, target, &told), 0);
    open_new(&f);
    decide(&f, pool_change_abort);
    CU_ASSERT_EQUAL(pool_target(f.pool), left);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, left);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, told.epoch + (target != left));
    finish(&f);
}

/* promises P7 and Z3 */
static void test_abort_after_a_resize_tells_the_target_that_is_left(void)
{
    expect_abort_after_resize(3, 2);
    expect_abort_after_resize(5, 3);
    expect_abort_after_resize(1, 1);
}

static void test_abort_before_the_stop_changes_nothing(void)
{
    static struct fixture f;

    begin(&f);
    prepare(&f, 3);
    decide(&f, pool_change_abort);
    CU_ASSERT_EQUAL(pool_target(f.pool), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.old->closed), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.new->opened), 0);
    finish(&f);
}

static void test_pool_that_closes_meanwhile_ends(void)
{
    static struct fixture f;

    begin(&f);
    prepare(&f, 3);
    hold_one(&f);
    stop(&f);
    rig_close(&f.rig, f.pool);
    decide(&f, pool_change_abort);
    CU_ASSERT_EQUAL(atomic_load(&f.old->opened), 2);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one after the other", test_new_workers_open_after_the_old_have_ended },
        { "abort", test_abort_opens_workers_like_the_old_ones },
        { "resized", test_abort_after_a_resize_tells_the_target_that_is_left },
        { "early abort", test_abort_before_the_stop_changes_nothing },
        { "closed", test_pool_that_closes_meanwhile_ends },
        CU_TEST_INFO_NULL,
    };

    return suite_run("exclusive", tests);
}
