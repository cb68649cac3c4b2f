/* SPDX-License-Identifier: MIT */
/*
 * Goal: former workers of a pool with a new behaviour emit to the former targets of their outputs
 * until they have ended; no message goes to another output of the same number, and none is lost.
 * Shows promise R14.
 *
 * Method: workers at a gate when the change is committed, which emit afterwards; the pools at the
 * outputs note what arrives, and the ledgers are read.
 */
#include "actor/replay.h"
#include "pool/change.h"
#include "pool/outlet.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 8u

static const struct weir_output old_rows[] = {
    { .name = "good" }, { .name = "bad" }, { .name = "ugly" }, { 0 }
};
static const struct weir_output new_rows[] = { { .name = "bad" }, { .name = "more" }, { 0 } };
static const struct weir_output newer_rows[] = { { .name = "ugly" }, { 0 } };

enum sink {
    SINK_A,
    SINK_B,
    SINK_C,
    SINK_D,
    SINKS,
};

struct fixture {
    struct rig rig;
    struct probe *old;
    struct probe *new;
    struct probe *heard[SINKS];
    struct pool *sinks[SINKS];
    struct pool *pool;
};

/* Comes to the gate, then emits into the output that the order names. */
static int emit_late(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct order order = *probe_order(message);
    struct weir_message *copy;

    if (!gate_pass(&probe->gate))
        return WEIR_FAIL;
    order.act = NULL;
    copy = probe_message(self, order);
    if (weir_emit(self, (uint32_t)order.argument, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_REJECT;
}

static struct probe *make_probe(const struct weir_output *rows)
{
    struct probe *probe = probe_create();

    probe->behaviour.outputs = rows;
    probe->act = emit_late;
    return probe;
}

static struct binding to(struct fixture *f, enum sink sink)
{
    return (struct binding){ f->sinks[sink]->pid, WEIR_FULL_WAIT };
}

static struct wiring *wiring_to(struct fixture *f, uint32_t count, const enum sink *sinks)
{
    struct wiring *wiring = wiring_create(count);

    CU_ASSERT_PTR_NOT_NULL_FATAL(wiring);
    for (uint32_t i = 0; i < count; i++)
        wiring->bindings[i] = to(f, sinks[i]);
    return wiring;
}

static const char *const names[SINKS] = { "a", "b", "c", "d" };

/* A pool whose outputs good, bad and ugly lead to a, b and c. */
static void begin(struct fixture *f, uint32_t size)
{
    struct pool_options options = { .size = size, .settings.mailbox = LIMIT, .output_count = 3 };
    struct binding outputs[3];

    rig_init(&f->rig, 4, 0);
    f->old = make_probe(old_rows);
    f->new = make_probe(new_rows);
    gate_open(&f->new->gate);
    for (int i = 0; i < SINKS; i++) {
        f->heard[i] = probe_create();
        f->sinks[i] = rig_workers(&f->rig, f->heard[i], names[i], 1, LIMIT);
        if (i < 3)
            outputs[i] = to(f, (enum sink)i);
    }
    options.spec = rig_spec(f->old);
    options.outputs = outputs;
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void free_probes(struct fixture *f)
{
    probe_destroy(f->old);
    probe_destroy(f->new);
    for (int i = 0; i < SINKS; i++)
        probe_destroy(f->heard[i]);
}

static void finish(struct fixture *f)
{
    gate_open(&f->old->gate);
    CU_ASSERT_EQUAL(pool_misuses(f->pool), 0);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    for (int i = 0; i < SINKS; i++)
        CU_ASSERT_TRUE(!f->sinks[i] || rig_end(&f->rig, f->sinks[i], NULL));
    rig_finish(&f->rig);
    free_probes(f);
}

static void send(struct fixture *f, uint64_t id, uint32_t output)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = id, .argument = output }),
                    0);
}

static bool is_prepared(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(context, &opening);
    return opening.starting == 0;
}

static struct pool_change *prepare(struct fixture *f, struct probe *probe, struct wiring *wiring)
{
    struct pool_change_options options = { .size = 1, .settings.mailbox = LIMIT, .wiring = wiring };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change *change = NULL;

    options.spec = probe ? rig_spec(probe) : NULL;
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    spec_unref(options.spec);
    runtime_leave(executor);
    CU_ASSERT_TRUE_FATAL(rig_wait(&f->rig, is_prepared, f->pool));
    return change;
}

static void commit(struct fixture *f, struct pool_change *change)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_change_commit(change, executor);
    runtime_leave(executor);
}

/* `bad` leads to d, and `more` to c. */
static void turn_to_new(struct fixture *f)
{
    commit(f, prepare(f, f->new, wiring_to(f, 2, (enum sink[]){ SINK_D, SINK_C })));
}

static bool hears(struct fixture *f, enum sink sink, uint64_t id)
{
    return rig_noted(&f->rig, f->heard[sink], id, 1);
}

static bool has_no_former(void *context)
{
    uint64_t due_ns;

    return !outlet_has_former(context, &due_ns);
}

/* --- tests ---------------------------------------------------------------------------------- */

/* promise R14 */
static void test_old_workers_emit_where_their_outputs_led(void)
{
    struct fixture f;

    begin(&f, 1);
    send(&f, 1, 0); /* good: the new behaviour has no such output */
    send(&f, 2, 1); /* bad: that of the new behaviour leads to d */
    send(&f, 3, 2); /* ugly: the new behaviour has no such number, either */
    CU_ASSERT_TRUE(gate_await(&f.old->gate, 1));
    turn_to_new(&f);
    send(&f, 4, 0); /* for the new worker, whose output 0 is bad */
    send(&f, 5, 1); /* and output 1 is more */
    CU_ASSERT_TRUE(hears(&f, SINK_D, 4));
    CU_ASSERT_TRUE(hears(&f, SINK_C, 5));
    gate_open(&f.old->gate);
    CU_ASSERT_TRUE(hears(&f, SINK_A, 1));
    CU_ASSERT_TRUE(hears(&f, SINK_B, 2));
    CU_ASSERT_TRUE(hears(&f, SINK_C, 3));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_count(f.heard[SINK_D]), 1);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).dead, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_former, f.pool));
    finish(&f);
}

/* promise R14 */
static void test_later_changes_do_not_reach_old_workers(void)
{
    struct probe *newer = make_probe(newer_rows);
    struct fixture f;

    begin(&f, 1);
    gate_open(&newer->gate);
    send(&f, 1, 0);
    send(&f, 2, 1);
    send(&f, 3, 2);
    CU_ASSERT_TRUE(gate_await(&f.old->gate, 1));
    turn_to_new(&f);
    commit(&f, prepare(&f, newer, wiring_to(&f, 1, (enum sink[]){ SINK_A })));
    commit(&f, prepare(&f, NULL, wiring_to(&f, 1, (enum sink[]){ SINK_B })));
    CU_ASSERT_FALSE(has_no_former(f.pool));
    gate_open(&f.old->gate);
    CU_ASSERT_TRUE(hears(&f, SINK_A, 1));
    CU_ASSERT_TRUE(hears(&f, SINK_B, 2));
    CU_ASSERT_TRUE(hears(&f, SINK_C, 3));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_former, f.pool));
    finish(&f);
    probe_destroy(newer);
}

/* promise R14 */
static void test_what_waits_for_room_stays_for_where_it_was_meant_to_go(void)
{
    struct fixture f;

    begin(&f, 1);
    gate_open(&f.old->gate);
    f.heard[SINK_B]->act = probe_wait;
    for (uint64_t id = 1; id <= LIMIT + 2; id++) {
        send(&f, id, 1); /* one is in hand at b, LIMIT wait, one is in the outbox */
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.old, id, 1));
        CU_ASSERT_TRUE(gate_await(&f.heard[SINK_B]->gate, 1));
    }
    turn_to_new(&f);
    gate_open(&f.heard[SINK_B]->gate);
    CU_ASSERT_TRUE(hears(&f, SINK_B, LIMIT + 2));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_count(f.heard[SINK_D]), 0);
    finish(&f);
}

/* promise R14: dead with its reason, and nowhere else. */
static void test_output_of_old_workers_that_led_to_what_ended_is_dead(void)
{
    struct fixture f;

    begin(&f, 1);
    send(&f, 1, 0);
    CU_ASSERT_TRUE(gate_await(&f.old->gate, 1));
    turn_to_new(&f);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.sinks[SINK_A], NULL));
    f.sinks[SINK_A] = NULL;
    gate_open(&f.old->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_NO_TARGET), 1);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).done, 1);
    for (int i = 0; i < SINKS; i++)
        CU_ASSERT_EQUAL(probe_count(f.heard[i]), 0);
    finish(&f);
}

/* promises R2 and R14 */
static void test_aborted_change_leaves_the_outputs_as_they_were(void)
{
    struct pool_change *change;
    struct executor *executor;
    struct fixture f;

    begin(&f, 1);
    gate_open(&f.old->gate);
    change = prepare(&f, f.new, wiring_to(&f, 2, (enum sink[]){ SINK_D, SINK_D }));
    send(&f, 1, 1);
    CU_ASSERT_TRUE(hears(&f, SINK_B, 1));
    executor = runtime_enter(f.rig.runtime);
    pool_change_abort(change, executor);
    runtime_leave(executor);
    send(&f, 2, 2);
    CU_ASSERT_TRUE(hears(&f, SINK_C, 2));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_former, f.pool));
    finish(&f);
}

static struct replay_result replay_all(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct replay_result result;

    replay(f->rig.runtime, executor, &f->pool->dead, outlet_present(&f->pool->outlets),
           f->pool->pid, &result);
    runtime_leave(executor);
    return result;
}

/* promises L4 and R14: number 0 of the old table is not number 0 of the new one. */
static void test_letter_of_old_workers_goes_again_where_it_was_meant_to_go(void)
{
    struct wiring *dropping;
    struct fixture f;

    begin(&f, 1);
    gate_open(&f.old->gate);
    dropping = wiring_to(&f, 3, (enum sink[]){ SINK_A, SINK_B, SINK_C });
    dropping->bindings[0].when_full = WEIR_FULL_DEAD_LETTER;
    commit(&f, prepare(&f, NULL, dropping));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.sinks[SINK_A], 0, NULL), 0);
    send(&f, 1, 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_OUTPUT_FULL), 1);
    turn_to_new(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.sinks[SINK_A], 1, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.sinks[SINK_A]));
    CU_ASSERT_EQUAL(replay_all(&f).replayed, 1);
    CU_ASSERT_TRUE(hears(&f, SINK_A, 1));
    CU_ASSERT_EQUAL(probe_count(f.heard[SINK_D]), 0);
    finish(&f);
}

/* A leak checker sees an outlet that nobody frees. */
static void test_runtime_that_ends_before_old_workers_frees_their_outputs(void)
{
    struct fixture f;
    struct executor *executor;

    begin(&f, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.sinks[SINK_A], 0, NULL), 0);
    send(&f, 1, 0);
    CU_ASSERT_TRUE(gate_await(&f.old->gate, 1));
    turn_to_new(&f);
    gate_open(&f.old->gate); /* waits for room in a pool without workers, so it does not end */
    CU_ASSERT_EQUAL(runtime_stop(f.rig.runtime), 0);
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(f.pool, executor);
    for (int i = 0; i < SINKS; i++)
        pool_destroy(f.sinks[i], executor);
    runtime_leave(executor);
    runtime_destroy(f.rig.runtime);
    free_probes(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "old outputs", test_old_workers_emit_where_their_outputs_led },
        { "later changes", test_later_changes_do_not_reach_old_workers },
        { "outbox", test_what_waits_for_room_stays_for_where_it_was_meant_to_go },
        { "ended", test_output_of_old_workers_that_led_to_what_ended_is_dead },
        { "aborted", test_aborted_change_leaves_the_outputs_as_they_were },
        { "runtime ends", test_runtime_that_ends_before_old_workers_frees_their_outputs },
        { "letters", test_letter_of_old_workers_goes_again_where_it_was_meant_to_go },
        CU_TEST_INFO_NULL,
    };

    return suite_run("outlet", tests);
}
