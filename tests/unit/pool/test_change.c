/* SPDX-License-Identifier: MIT */
/*
 * Goal: a change of a pool is prepared beside it, invisibly, and then takes effect as one step or
 * not at all; whatever happens in between, no message is lost and the number of workers reaches the
 * target.
 *
 * Method: changes that are prepared, inspected, and committed or aborted, while workers wait at a
 * gate or have just been resized.
 */
#include "pool/change.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 4u
#define INDEX 1000u /* a note: INDEX + the worker's number */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static int note_index(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    probe_note(probe, INDEX + weir_index(self));
    return probe_wait(self, probe, message);
}

static void begin(struct fixture *f, uint32_t size)
{
    f->probe = probe_create();
    f->probe->act = note_index;
    rig_init(&f->rig, 4, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", size, LIMIT);
}

/* Ends the pool; `done` messages were handled, and every worker was closed once. */
static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* The pool as `begin` made it, but for its size. */
static struct pool_change_options of_size(uint32_t size)
{
    return (struct pool_change_options){ .size = size, .settings.mailbox = LIMIT };
}

static struct pool_change *prepare(struct fixture *f, struct pool_change_options options)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change *change = NULL;

    CU_ASSERT_EQUAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    runtime_leave(executor);
    return change;
}

static void commit(struct fixture *f, struct pool_change *change)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_change_commit(change, executor);
    runtime_leave(executor);
}

static void take_back(struct fixture *f, struct pool_change *change)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_change_abort(change, executor);
    runtime_leave(executor);
}

static void change(struct fixture *f, struct pool_change_options options)
{
    commit(f, prepare(f, options));
}

static bool is_prepared(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(context, &opening);
    return opening.starting == 0;
}

static int send(struct fixture *f)
{
    return rig_send(&f->rig, f->pool->pid, (struct order){ .id = 1 });
}

static void send_many(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(send(f), 0);
}

/* --- workers -------------------------------------------------------------------------------- */

/* promise P6: a worker of an old spec is not called back; a new one opens. */
static void test_those_of_before_are_not_called_back(void)
{
    struct pool_change_options options = of_size(1);
    struct fixture f;

    begin(&f, 1);
    send_many(&f, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    options.spec = rig_spec(f.probe);
    change(&f, options);
    spec_unref(options.spec);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 1);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 1);
    finish(&f, 1);
}

/* promises R3 and P7 */
static void test_prepared_workers_get_nothing_before_the_commit(void)
{
    struct pool_change *grown;
    struct fixture f;
    uint64_t epoch;

    begin(&f, 2);
    gate_open(&f.probe->gate);
    epoch = rig_stats(f.pool).epoch;
    grown = prepare(&f, of_size(4));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_prepared, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 4);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, epoch);
    for (int i = 0; i < 8; i++) {
        send_many(&f, 1);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    }
    CU_ASSERT_EQUAL(probe_times(f.probe, INDEX) + probe_times(f.probe, INDEX + 1), 8);
    commit(&f, grown);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 4);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 4);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, epoch + 1);
    for (int i = 0; i < 8; i++) {
        send_many(&f, 1);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    }
    CU_ASSERT_EQUAL(probe_times(f.probe, INDEX + 2), 2);
    CU_ASSERT_EQUAL(probe_times(f.probe, INDEX + 3), 2);
    finish(&f, 16);
}

/* A worker of a commit that came before its `open` was over lets itself in. */
static void test_worker_that_opens_after_the_commit_is_let_in(void)
{
    struct fixture f;

    begin(&f, 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    change(&f, of_size(3));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    send_many(&f, 3);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    finish(&f, 3);
}

/* promises R3 and P6 */
static void test_shrinking_change_lets_the_leaving_finish(void)
{
    struct fixture f;

    begin(&f, 4);
    send_many(&f, 4);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    send_many(&f, 4 * LIMIT);
    change(&f, of_size(2));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 2);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    finish(&f, 4 * (LIMIT + 1));
}

/* promises R3 and P6: the old ones finish beside the new, which get everything new. */
static void test_new_workers_come_beside_the_old_ones_which_finish(void)
{
    struct probe *next = probe_create();
    struct pool_change_options options = of_size(2);
    struct pool_change *replaced;
    struct fixture f;

    begin(&f, 2);
    send_many(&f, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    send_many(&f, 2);
    options.spec = rig_spec(next);
    replaced = prepare(&f, options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_prepared, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&next->opened), 2);
    commit(&f, replaced);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 2);
    for (uint64_t id = 11; id <= 14; id++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = id }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, next, id, 1));
    }
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 2);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 4);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    finish(&f, 8);
    CU_ASSERT_EQUAL(atomic_load(&next->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&next->closed), 2);
    probe_destroy(next);
}

/* --- resized meanwhile ---------------------------------------------------------------------- */

static bool nobody_leaves(void *context)
{
    return rig_stats(context).retiring == 0;
}

/* promise P7: the target is as many as there are, so that the next resize counts right. */
static void test_target_counts_those_who_left_between_prepare_and_commit(void)
{
    struct pool_change *grown;
    struct fixture f;

    begin(&f, 4);
    grown = prepare(&f, of_size(8));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, nobody_leaves, f.pool)); /* two are gone for good */
    commit(&f, grown);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 6);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 6);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 2);
    finish(&f, 0);
}

/* promises R3 and P7 */
static void test_commit_calls_back_those_who_have_not_left_yet(void)
{
    struct pool_change *grown;
    struct fixture f;

    begin(&f, 4);
    send_many(&f, 4);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    grown = prepare(&f, of_size(5));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 2);
    commit(&f, grown);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 5);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 5);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 0);
    finish(&f, 4);
}

/* promise R3: a fixed size wins; surplus workers leave. */
static void test_pool_grown_meanwhile_has_the_size_of_the_commit(void)
{
    struct pool_change *grown;
    struct fixture f;

    begin(&f, 2);
    grown = prepare(&f, of_size(4));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 6, NULL), 0);
    commit(&f, grown);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 4);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 4);
    finish(&f, 0);
}

/* --- aborted, closed ------------------------------------------------------------------------ */

/* promise R2 */
static void test_aborted_change_leaves_everything_as_it_was(void)
{
    struct pool_change_options options = of_size(5);
    struct weir_pool_stats before;
    struct fixture f;

    begin(&f, 2);
    before = rig_stats(f.pool);
    options.settings.mailbox = 1;
    options.settings.route = WEIR_ROUTE_HASH;
    options.wiring = wiring_create(1);
    options.spec = rig_spec(f.probe);
    take_back(&f, prepare(&f, options));
    take_back(&f, NULL);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, before.target);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, before.epoch);
    send_many(&f, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    send_many(&f, 2 * LIMIT);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    finish(&f, 2 * (LIMIT + 1));
}

static int open_at_the_gate(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return gate_pass(&probe->gate) ? 0 : WEIR_ETIMEOUT;
}

/* promise P6: one that was taken back while it opened, and is wanted after all, is a member like
 * any other. */
static void test_worker_aborted_while_it_opens_can_be_called_back(void)
{
    struct pool_change *grown;
    struct fixture f;

    begin(&f, 1);
    f.probe->opens = open_at_the_gate;
    grown = prepare(&f, of_size(2));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    take_back(&f, grown);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1), (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + 1, 1));
    finish(&f, 1);
}

/* promise P8 */
static void test_commit_on_a_closing_pool_lets_it_end(void)
{
    struct pool_change_options options = of_size(3);
    struct pool_change *none = NULL;
    struct pool_change *grown;
    struct executor *executor;
    struct fixture f;

    begin(&f, 1);
    send_many(&f, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    options.wiring = wiring_create(1);
    grown = prepare(&f, options);
    rig_close(&f.rig, f.pool);
    executor = runtime_enter(f.rig.runtime);
    options.wiring = NULL;
    CU_ASSERT_EQUAL(pool_change_prepare(f.pool, executor, &options, &none), WEIR_ECLOSED);
    CU_ASSERT_PTR_NULL(none);
    runtime_leave(executor);
    commit(&f, grown);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_ECLOSED);
    finish(&f, 1);
}

/* --- settings of the pool ------------------------------------------------------------------- */

/* promises R3, S5 and P7: mailboxes above the limit keep their messages, and refuse until below
 * it. */
static void test_changed_limit_takes_effect_at_once_both_ways(void)
{
    struct pool_change_options options = of_size(1);
    struct fixture f;
    uint64_t epoch;

    begin(&f, 1);
    epoch = rig_stats(f.pool).epoch;
    send_many(&f, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send_many(&f, LIMIT);
    options.settings.mailbox = 2;
    change(&f, options);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, LIMIT);
    gate_admit(&f.probe->gate, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3)); /* two wait: as many as may */
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    options.settings.mailbox = 6;
    change(&f, options);
    send_many(&f, 4);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, epoch); /* no worker was added or removed */
    finish(&f, LIMIT + 6);
}

static void test_changed_route_bounds_and_mode_are_in_force(void)
{
    struct pool_change_options options = of_size(1);
    struct fixture f;

    begin(&f, 1);
    options.settings.route = WEIR_ROUTE_HASH;
    options.settings.size_max = 2;
    options.settings.remove.mode = WEIR_REMOVE_DISCARD;
    change(&f, options);
    CU_ASSERT_EQUAL(send(&f), WEIR_EINVALID); /* no key */
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 7, (struct order){ .id = 1 }), 0);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    }
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 3, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REMOVED), 2);
    finish(&f, 1);
}

static int emit(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, *probe_order(message))), 0);
    return WEIR_DONE;
}

/* promise O1 */
static void test_changed_wiring_leads_elsewhere(void)
{
    struct pool_change_options options = of_size(1);
    struct probe *target = probe_create();
    struct pool *fed;
    struct fixture f;

    begin(&f, 1);
    f.probe->act = emit;
    fed = rig_workers(&f.rig, target, "fed", 1, LIMIT);
    options.wiring = wiring_create(1);
    options.wiring->bindings[0] = (struct binding){ fed->pid, WEIR_FULL_WAIT };
    change(&f, options);
    send_many(&f, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, target, 1, 1));
    options.wiring = NULL; /* as it is */
    change(&f, options);
    send_many(&f, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, target, 1, 2));
    options.wiring = wiring_create(1); /* unbound: emitted messages are freed */
    change(&f, options);
    send_many(&f, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_TRUE(rig_end(&f.rig, fed, NULL));
    CU_ASSERT_EQUAL(probe_count(target), 2);
    finish(&f, 3);
    probe_destroy(target);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "not called back", test_those_of_before_are_not_called_back },
        { "prepared", test_prepared_workers_get_nothing_before_the_commit },
        { "opens later", test_worker_that_opens_after_the_commit_is_let_in },
        { "shrinks", test_shrinking_change_lets_the_leaving_finish },
        { "beside the old", test_new_workers_come_beside_the_old_ones_which_finish },
        { "left meanwhile", test_target_counts_those_who_left_between_prepare_and_commit },
        { "leaving meanwhile", test_commit_calls_back_those_who_have_not_left_yet },
        { "grown meanwhile", test_pool_grown_meanwhile_has_the_size_of_the_commit },
        { "aborted", test_aborted_change_leaves_everything_as_it_was },
        { "aborted opening", test_worker_aborted_while_it_opens_can_be_called_back },
        { "closing", test_commit_on_a_closing_pool_lets_it_end },
        { "limit", test_changed_limit_takes_effect_at_once_both_ways },
        { "route", test_changed_route_bounds_and_mode_are_in_force },
        { "wiring", test_changed_wiring_leads_elsewhere },
        CU_TEST_INFO_NULL,
    };

    return suite_run("change", tests);
}
