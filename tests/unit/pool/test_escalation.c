/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that fails too often in a pool that escalates is handled by the pools above:
 * opened again within their limits, then as their own `then` says, and at the top the program gets
 * the failure.
 *
 * Method: two to four levels around one pool of workers that fail by order; a clock that stands
 * still, so that all failures are in one window.
 */
#include "actor/lifecycle.h"

#include "pool/change.h"
#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LEVELS_MAX 4
#define PAUSE_MS 100

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pools[LEVELS_MAX]; /* the last one has the workers */
    uint32_t levels;
};

static struct restart bound(uint32_t max, enum weir_restart_then then)
{
    return (struct restart){ .max = max,
                             .within_ms = 10000,
                             .backoff_ms_min = PAUSE_MS,
                             .backoff_ms_max = 4 * PAUSE_MS,
                             .then = then };
}

static struct pool *leaf(struct fixture *f, uint32_t size)
{
    struct pool_options options = { .path = "leaf", .size = size, .settings.mailbox = 8 };
    struct pool *pool;

    options.parent = f->pools[f->levels - 2];
    options.spec = rig_spec(f->probe);
    options.spec->restart = bound(0, WEIR_RESTART_ESCALATE);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    return pool;
}

/* All pools above the workers have the same bound. */
static void begin(struct fixture *f, uint32_t levels, uint32_t size, struct restart restart)
{
    static const char *const paths[] = { "a", "b", "c" };

    *f = (struct fixture){ .levels = levels };
    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
    for (uint32_t i = 0; i + 1 < levels; i++) {
        struct pool_options options = { .path = paths[i], .settings.restart = restart };

        options.parent = i > 0 ? f->pools[i - 1] : NULL;
        f->pools[i] = rig_pool(&f->rig, &options);
        CU_ASSERT_PTR_NOT_NULL_FATAL(f->pools[i]);
    }
    f->pools[levels - 1] = leaf(f, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pools[levels - 1]);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pools[0]));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    rig_close(&f->rig, f->pools[0]);
    for (uint32_t i = f->levels; i-- > 0;)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->pools[i], &ledger));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static struct pool *workers(struct fixture *f)
{
    return f->pools[f->levels - 1];
}

static void fail_worker(struct fixture *f, uint32_t index)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(workers(f), index),
                             (struct order){ .act = probe_fail, .id = 1 }),
                    0);
}

struct expected {
    struct fixture *f;
    uint32_t opened;
};

static bool has_opened(void *context)
{
    struct expected *expected = context;

    return atomic_load(&expected->f->probe->opened) >= expected->opened;
}

/* As many incarnations have begun in all. */
static bool begun(struct fixture *f, uint32_t times)
{
    struct expected expected = { f, times };

    return rig_wait(&f->rig, has_opened, &expected);
}

/* As fail_all, while time passes. */
static bool has_opened_in_time(void *context)
{
    rig_advance(&((struct expected *)context)->f->rig, PAUSE_MS);
    return has_opened(context);
}

/* And all workers are open. */
static bool opened(struct fixture *f, uint32_t times)
{
    return begun(f, times) && rig_settled(&f->rig, f->pools[0]);
}

static bool is_one_stopped(void *context)
{
    return rig_stats(context).stopped == 1;
}

static bool has_escalated(void *context)
{
    return runtime_has_escalated(context);
}

/* --- within the bound ----------------------------------------------------------------------- */

/* promises P13 and S2: the sibling restarts with it, after its present message, and keeps its
 * waiting messages. */
static void test_member_is_opened_again_and_its_mailboxes_are_kept(void)
{
    struct fixture f;
    struct weir_pool_stats stats;

    begin(&f, 2, 2, bound(1, WEIR_RESTART_STOP));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, rig_worker(workers(&f), 1), (struct order){ .act = probe_wait, .id = 10 }),
        0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 11; id <= 14; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(workers(&f), 1), (struct order){ .id = id }),
                        0);
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(begun(&f, 3)); /* the failed one, meanwhile */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(opened(&f, 4));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pools[0]));
    for (uint64_t id = 10; id <= 14; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    stats = rig_stats(f.pools[0]);
    CU_ASSERT_EQUAL(stats.reopened, 1);
    CU_ASSERT_EQUAL(stats.live, 2);
    CU_ASSERT_EQUAL(stats.degraded, 0);
    CU_ASSERT_EQUAL(stats.stopped, 0);
    CU_ASSERT_EQUAL(stats.dead, 1); /* the order to fail */
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    finish(&f);
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)message;
    gate_pass(&probe->gate);
    return WEIR_KEEP;
}

/* promises P13 and P4: the sibling's kept message is dead as after its own failure; no misuse. */
static void test_what_a_sibling_kept_is_dead_as_crashed(void)
{
    struct fixture f;

    begin(&f, 2, 2, bound(1, WEIR_RESTART_STOP));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, rig_worker(workers(&f), 1), (struct order){ .act = keep, .id = 10 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 10, 1));
    gate_open(&f.probe->gate);
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(opened(&f, 4));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pools[0]));
    CU_ASSERT_EQUAL(rig_dead(workers(&f), DEAD_CRASHED), 2);
    CU_ASSERT_EQUAL(pool_misuses(f.pools[0]), 0);
    finish(&f);
}

/* promise P13: two that fail together are one failure of their pool. */
static void test_workers_that_fail_together_are_counted_once(void)
{
    struct fixture f;
    const struct order order = { .act = probe_wait_and_fail, .id = 1 };

    begin(&f, 2, 2, bound(5, WEIR_RESTART_STOP));
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(workers(&f), i), order), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(opened(&f, 4));
    CU_ASSERT_EQUAL(rig_stats(f.pools[0]).reopened, 1);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 4);
    finish(&f);
}

/* --- past it -------------------------------------------------------------------------------- */

/* promise P13: the pool above says `stop`: the failed member stays closed, the others go on. */
static void test_past_the_bound_what_failed_stays_closed(void)
{
    struct fixture f;
    struct weir_pool_stats stats;

    begin(&f, 2, 2, bound(1, WEIR_RESTART_STOP));
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(opened(&f, 4));
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pools[0]));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pools[0]->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    stats = rig_stats(f.pools[0]);
    CU_ASSERT_EQUAL(stats.degraded, 1);
    CU_ASSERT_EQUAL(stats.live, 1);
    CU_ASSERT_EQUAL(stats.reopened, 1);
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    finish(&f);
}

static bool has_reopened_twice(void *context)
{
    return rig_stats(context).reopened == 2;
}

/* promise P13: the pool above keeps trying: after a pause of its own. */
static void test_past_the_bound_the_member_is_opened_again_after_a_pause(void)
{
    struct fixture f;

    begin(&f, 2, 2, bound(1, WEIR_RESTART_KEEP_TRYING));
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(opened(&f, 4));
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_reopened_twice, f.pools[0]));
    /* The one that had not failed does not wait. */
    CU_ASSERT_TRUE(begun(&f, 5));
    CU_ASSERT_EQUAL(rig_stats(f.pools[0]).degraded, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_opened_in_time, &(struct expected){ &f, 6 }));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pools[0]));
    CU_ASSERT_EQUAL(rig_stats(f.pools[0]).degraded, 0);
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    finish(&f);
}

/*
 * promise P13: each level opens its member again once, and escalates at the second failure: so
 * every level doubles the number of failures that end the program.
 */
static void test_every_level_is_asked_before_the_program(void)
{
    for (uint32_t levels = 2; levels <= LEVELS_MAX; levels++) {
        const uint32_t failures = 1u << (levels - 1);
        struct fixture f;

        begin(&f, levels, 1, bound(1, WEIR_RESTART_ESCALATE));
        for (uint32_t i = 1; i < failures; i++) {
            fail_worker(&f, 0);
            CU_ASSERT_TRUE(opened(&f, 1 + i));
            CU_ASSERT_EQUAL(rig_stats(f.pools[0]).reopened, i);
            CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
        }
        fail_worker(&f, 0);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_escalated, f.rig.runtime));
        CU_ASSERT_EQUAL(rig_stats(f.pools[0]).stopped, 1);
        finish(&f);
    }
}

/* promise P13: failures that lie further apart than `within` are not counted together. */
static void test_old_failures_are_forgotten(void)
{
    struct fixture f;

    begin(&f, 2, 1, bound(1, WEIR_RESTART_ESCALATE));
    for (uint32_t i = 1; i <= 5; i++) {
        fail_worker(&f, 0);
        CU_ASSERT_TRUE(opened(&f, 1 + i));
        rig_advance(&f.rig, 10001);
    }
    CU_ASSERT_EQUAL(rig_stats(f.pools[0]).reopened, 5);
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    finish(&f);
}

/* --- reloads -------------------------------------------------------------------------------- */

static void set_bound(struct fixture *f, struct restart restart)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change_options options = { .settings.restart = restart };
    struct pool_change *change;

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pools[0], executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
}

/* promise P13: another bound of the pool above tries once more. */
static void test_another_bound_opens_what_was_left_closed(void)
{
    struct fixture f;

    begin(&f, 2, 1, bound(0, WEIR_RESTART_STOP));
    fail_worker(&f, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_one_stopped, f.pools[0]));
    set_bound(&f, bound(1, WEIR_RESTART_STOP));
    CU_ASSERT_TRUE(opened(&f, 2));
    CU_ASSERT_EQUAL(rig_stats(f.pools[0]).stopped, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pools[0]->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    finish(&f);
}

static int refuse(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_ENOMEM;
}

static bool has_refused(void *context)
{
    return atomic_load(&((struct probe *)context)->refused) >= 1;
}

/* promises P13 and R12: workers that a reload prepared and aborted do not escalate. */
static void test_what_a_reload_takes_back_does_not_escalate(void)
{
    struct fixture f;
    struct probe *failing = probe_create();
    struct pool_change_options options = { .size = 1, .settings.mailbox = 8 };
    struct pool_change *change;
    struct executor *executor;

    begin(&f, 2, 1, bound(0, WEIR_RESTART_ESCALATE));
    failing->opens = refuse;
    options.spec = rig_spec(failing);
    options.spec->restart = bound(0, WEIR_RESTART_ESCALATE);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(workers(&f), executor, &options, &change), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_refused, failing));
    executor = runtime_enter(f.rig.runtime);
    pool_change_abort(change, executor);
    runtime_leave(executor);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pools[0]));
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    CU_ASSERT_EQUAL(rig_stats(f.pools[0]).reopened, 0);
    finish(&f);
    probe_destroy(failing);
}

static bool is_waiting(void *context)
{
    struct pool *pool = context;
    bool is_waiting;

    lock_acquire(&pool->lock);
    is_waiting = actor_state(LIST_ENTRY(pool->places.next, struct place, link)->actor) ==
                 ACTOR_WAITING;
    lock_release(&pool->lock);
    return is_waiting;
}

static bool has_escalated_in_time(void *context)
{
    struct rig *rig = context;

    rig_advance(rig, 10 * PAUSE_MS);
    return runtime_has_escalated(rig->runtime);
}

/* promises P13 and R12: nor does a pool that is made apart, until it is let in. */
static void test_pool_that_is_made_apart_does_not_escalate(void)
{
    struct fixture f;
    struct pool_options options = {
        .path = "new", .size = 1, .settings.mailbox = 8, .apart = true
    };
    struct pool *pool;
    struct probe *failing = probe_create();

    begin(&f, 2, 1, bound(0, WEIR_RESTART_ESCALATE));
    failing->opens = refuse;
    options.spec = rig_spec(failing);
    options.spec->restart = bound(0, WEIR_RESTART_ESCALATE);
    pool = rig_pool(&f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waiting, pool)); /* it has decided not to ask */
    CU_ASSERT_FALSE(runtime_has_escalated(f.rig.runtime));
    pool_end_trial(pool);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_escalated_in_time, &f.rig));
    CU_ASSERT_TRUE(atomic_load(&failing->refused) >= 2);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
    probe_destroy(failing);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "again", test_member_is_opened_again_and_its_mailboxes_are_kept },
        { "kept", test_what_a_sibling_kept_is_dead_as_crashed },
        { "together", test_workers_that_fail_together_are_counted_once },
        { "stop", test_past_the_bound_what_failed_stays_closed },
        { "keep trying", test_past_the_bound_the_member_is_opened_again_after_a_pause },
        { "levels", test_every_level_is_asked_before_the_program },
        { "window", test_old_failures_are_forgotten },
        { "bound", test_another_bound_opens_what_was_left_closed },
        { "taken back", test_what_a_reload_takes_back_does_not_escalate },
        { "apart", test_pool_that_is_made_apart_does_not_escalate },
        CU_TEST_INFO_NULL,
    };

    return suite_run("escalation", tests);
}
