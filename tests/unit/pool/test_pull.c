/* SPDX-License-Identifier: MIT */
/*
 * Goal: with `route: pull` members take from one bounded queue, each message once, as soon as one
 * is free.
 *
 * Method: members at a gate, so that the free ones are known; the ledger of the pool, also while
 * the queue and the members change.
 */
#include <string.h>

#include "pool/change.h"
#include "pool/places.h"
#include "pool/route.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t threads, uint32_t size, uint32_t limit)
{
    struct pool_options options = { .settings.route = WEIR_ROUTE_PULL,
                                    .size = size,
                                    .settings.mailbox = limit };

    f->probe = probe_create();
    rig_init(&f->rig, threads, 0);
    options.spec = rig_spec(f->probe);
    options.spec->redeliver_max = 1;
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static int send(struct fixture *f, probe_act *act, uint64_t id)
{
    return rig_send(&f->rig, f->pool->pid, (struct order){ .act = act, .id = id });
}

/* promise P12 */
static void test_every_message_is_handled_once(void)
{
    struct fixture f;

    begin(&f, 4, 4, 0);
    for (uint64_t id = 1; id <= 1000; id++)
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 1; id <= 1000; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    finish(&f, 1000);
}

/* promise P12 */
static void test_queue_holds_size_times_mailbox_exactly(void)
{
    struct fixture f;

    begin(&f, 3, 2, 3);
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_EQUAL(send(&f, probe_wait, id), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    for (uint64_t id = 3; id <= 8; id++) {
        CU_ASSERT_EQUAL(rig_stats(f.pool).queued, id - 3);
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
    }
    CU_ASSERT_EQUAL(send(&f, NULL, 9), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 1);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    CU_ASSERT_EQUAL(send(&f, NULL, 10), 0);
    gate_open(&f.probe->gate);
    finish(&f, 9);
}

/* promise P12: a busy worker delays no message. */
static void test_free_member_takes_what_waits_behind_a_busy_one(void)
{
    struct fixture f;

    begin(&f, 2, 2, 8);
    CU_ASSERT_EQUAL(send(&f, probe_wait, 1), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 2; id <= 9; id++) {
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1));
    }
    gate_open(&f.probe->gate);
    finish(&f, 9);
}

/* promise P12: woken for a message and busy with something else, it does not keep it waiting. */
static void test_own_mailbox_of_a_member_delays_nobody(void)
{
    struct fixture f;

    begin(&f, 4, 2, 8);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, rig_worker(f.pool, 1), (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 2; id <= 20; id++) {
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1));
    }
    gate_open(&f.probe->gate);
    finish(&f, 20);
}

/* promise P12 */
static void test_removed_member_takes_nothing_more(void)
{
    struct fixture f;

    begin(&f, 3, 2, 8);
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_EQUAL(send(&f, probe_wait, id), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(send(&f, NULL, 3), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(send(&f, NULL, 4), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 4, 1));
    finish(&f, 3);
}

/* promises P12 and P8 */
static void test_close_finishes_the_queue(void)
{
    struct fixture f;

    begin(&f, 3, 2, 8);
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_EQUAL(send(&f, probe_wait, id), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    for (uint64_t id = 3; id <= 12; id++)
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
    rig_close(&f.rig, f.pool);
    CU_ASSERT_EQUAL(send(&f, NULL, 13), WEIR_ECLOSED);
    gate_open(&f.probe->gate);
    finish(&f, 12);
}

/* promises P12 and S2: no worker is left to handle it. */
static void test_queue_of_a_pool_without_members_is_dead_when_it_closes(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, 2, 1, 8);
    CU_ASSERT_EQUAL(send(&f, probe_wait, 1), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    ledger = rig_ledger(f.pool);
    CU_ASSERT_EQUAL(ledger.queued, 1);
    CU_ASSERT_EQUAL(ledger_reading_difference(&ledger), 0);
    finish(&f, 1);
}

static bool is_replaced(void *context)
{
    return rig_stats(context).restarts == 2; /* given twice */
}

/* promises P12 and P4 */
static void test_what_a_failed_member_had_is_given_again(void)
{
    struct fixture f;

    begin(&f, 2, 1, 8);
    CU_ASSERT_EQUAL(send(&f, probe_fail, 1), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_replaced, f.pool));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 2));
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

static void change_route(struct fixture *f, enum weir_route route)
{
    struct pool_change_options options = { .size = 2,
                                           .settings.size_max = POOL_SIZE_MAX,
                                           .settings.mailbox = 8,
                                           .settings.route = route };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change *change;

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
}

/* promise P12 */
static void test_route_changes_both_ways_while_messages_wait(void)
{
    struct fixture f;

    begin(&f, 3, 2, 8);
    for (uint64_t round = 0; round < 10; round++) {
        for (uint64_t id = 1; id <= 4; id++)
            CU_ASSERT_EQUAL(send(&f, NULL, 10 * round + id), 0);
        change_route(&f, round % 2 ? WEIR_ROUTE_PULL : WEIR_ROUTE_ROUND_ROBIN);
        for (uint64_t id = 5; id <= 8; id++)
            CU_ASSERT_EQUAL(send(&f, NULL, 10 * round + id), 0);
        for (uint64_t id = 1; id <= 8; id++)
            CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 10 * round + id, 1));
    }
    finish(&f, 80);
}

/* promise P12: members that sleep since before the route was pull are woken. */
static void test_members_that_slept_under_another_route_are_woken(void)
{
    struct fixture f;

    begin(&f, 2, 2, 8);
    change_route(&f, WEIR_ROUTE_ROUND_ROBIN);
    CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    change_route(&f, WEIR_ROUTE_PULL);
    CU_ASSERT_EQUAL(send(&f, probe_wait, 2), 0);
    CU_ASSERT_EQUAL(send(&f, probe_wait, 3), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    gate_open(&f.probe->gate);
    finish(&f, 3);
}

static bool is_prepared(void *context)
{
    struct fixture *f = context;
    struct pool_opening opening = { 0 };

    pool_opening_prepared(f->pool, &opening);
    return opening.starting == 0;
}

/* On the one free thread: earlier wake-ups have had their turn. */
static void let_others_run(struct fixture *f, struct pool *other, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, other->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, id, 1));
}

/* promises P12 and R12: prepared workers take nothing before the commit. */
static void test_prepared_member_takes_nothing_before_the_commit(void)
{
    struct pool_change_options options = { .size = 1,
                                           .settings.mailbox = 4,
                                           .settings.route = WEIR_ROUTE_PULL };
    struct pool_change *change;
    struct executor *executor;
    struct fixture f;
    struct pool *other;

    begin(&f, 2, 1, 4);
    other = rig_workers(&f.rig, f.probe, "other", 1, 4);
    CU_ASSERT_EQUAL(send(&f, probe_wait, 1), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    options.spec = rig_spec(f.probe);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f.pool, executor, &options, &change), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_prepared, &f));
    let_others_run(&f, other, 100);
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    let_others_run(&f, other, 101);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 1);
    executor = runtime_enter(f.rig.runtime);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1)); /* while the old one is held */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, other, NULL));
    finish(&f, 2);
}

static int emit_three(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = id })), 0);
    probe_note(probe, 100);
    return WEIR_DONE;
}

/* promises P12 and O2 */
static void test_freed_place_of_the_queue_wakes_who_waits_for_it(void)
{
    struct fixture f;
    struct probe *feeding = probe_create();
    struct binding binding = { 0, WEIR_FULL_WAIT };
    struct pool_options options = {
        .path = "feeder", .size = 1, .settings.mailbox = 8, .output_count = 1
    };
    struct pool *feeder;

    begin(&f, 3, 1, 1);
    binding.target = f.pool->pid;
    options.spec = rig_spec(feeding);
    options.outputs = &binding;
    feeder = rig_pool(&f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f.rig, feeder));
    CU_ASSERT_EQUAL(send(&f, probe_wait, 50), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, feeder->pid, (struct order){ .act = emit_three }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, feeding, 100, 1));
    gate_open(&f.probe->gate);
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, feeder, NULL));
    finish(&f, 4);
    probe_destroy(feeding);
}

/* promise E9 */
static void test_pool_that_is_stopped_now_leaves_its_queue(void)
{
    struct executor *executor;
    struct fixture f;

    begin(&f, 2, 1, 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 9 }), 0);
    executor = runtime_enter(f.rig.runtime);
    pool_stop_now(f.pool, executor);
    runtime_leave(executor);
    gate_open(&f.probe->gate);
    finish(&f, 1);
}

/* promise P12: it was to end when the pool kept it, and then closed. */
static void test_last_member_does_not_end_before_the_queue_of_a_pool_that_closed(void)
{
    struct place *place;
    struct fixture f;

    begin(&f, 2, 1, 4);
    CU_ASSERT_EQUAL(send(&f, probe_wait, 0), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
    rig_close(&f.rig, f.pool);
    lock_acquire(&f.pool->lock);
    place = LIST_ENTRY(f.pool->leavers.next, struct place, link);
    lock_release(&f.pool->lock);
    CU_ASSERT_FALSE(pool_place_may_close(place, false));
    gate_open(&f.probe->gate);
    finish(&f, 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "once", test_every_message_is_handled_once },
        { "bound", test_queue_holds_size_times_mailbox_exactly },
        { "free member", test_free_member_takes_what_waits_behind_a_busy_one },
        { "own mailbox", test_own_mailbox_of_a_member_delays_nobody },
        { "removed", test_removed_member_takes_nothing_more },
        { "close", test_close_finishes_the_queue },
        { "no members", test_queue_of_a_pool_without_members_is_dead_when_it_closes },
        { "fails", test_what_a_failed_member_had_is_given_again },
        { "both ways", test_route_changes_both_ways_while_messages_wait },
        { "slept before", test_members_that_slept_under_another_route_are_woken },
        { "prepared", test_prepared_member_takes_nothing_before_the_commit },
        { "waiters", test_freed_place_of_the_queue_wakes_who_waits_for_it },
        { "closed meanwhile",
          test_last_member_does_not_end_before_the_queue_of_a_pool_that_closed },
        { "stop now", test_pool_that_is_stopped_now_leaves_its_queue },
        CU_TEST_INFO_NULL,
    };

    return suite_run("pull", tests);
}
