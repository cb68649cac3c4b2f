/* SPDX-License-Identifier: MIT */
/*
 * Goal: the copy of a broadcast for a member without room follows the output's `when_full`: it
 * waits for that member alone, in order, or is dead, or is counted.
 *
 * Method: workers that note their messages, one of them at a gate with a full mailbox; a worker
 * whose output leads to them.
 */
#include "actor/replay.h"
#include "pool/change.h"
#include "pool/outlet.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WORKERS 4u
#define LIMIT 2u
#define FILLER 9000u /* the id of messages that fill a mailbox */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint32_t held; /* workers that wait at the gate */
};

static void begin(struct fixture *f, struct pool_options options)
{
    *f = (struct fixture){ .probe = probe_create() };
    rig_init(&f->rig, WORKERS, 0);
    options.settings.route = WEIR_ROUTE_BROADCAST;
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

/* The probe can still be asked afterwards. */
static struct ledger_reading end(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    rig_finish(&f->rig);
    return ledger;
}

static struct ledger_reading finish(struct fixture *f)
{
    struct ledger_reading ledger = end(f);

    probe_destroy(f->probe);
    return ledger;
}

/* Holds the worker number `index`, and fills its mailbox. */
static void fill(struct fixture *f, uint32_t index, uint32_t limit)
{
    weir_pid worker = rig_worker(f->pool, index);

    CU_ASSERT_EQUAL(rig_send(&f->rig, worker, (struct order){ probe_wait, FILLER, 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, ++f->held));
    for (uint32_t i = 0; i < limit; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, worker, (struct order){ .id = FILLER + 1 }), 0);
}

static int emit(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .id = 77 });

    (void)probe;
    (void)message;
    return weir_emit(self, 0, out) == 0 ? WEIR_DONE : WEIR_REJECT;
}

static bool holds_its_input(void *context)
{
    return rig_ledger(context).held == 1;
}

struct feeding {
    struct probe *probe;
    struct pool *pool;
};

/* One worker whose output 0 leads to the pool under test; its outbox holds so many messages. */
static struct feeding feed_within(struct fixture *f, enum weir_when_full when_full,
                                  uint32_t outbox_max)
{
    struct binding binding = { f->pool->pid, when_full };
    struct pool_options options = { .path = "feeding", .size = 1, .output_count = 1 };
    struct feeding feeding = { .probe = probe_create() };

    options.outputs = &binding;
    options.spec = rig_spec(feeding.probe);
    options.spec->outbox_max = outbox_max;
    feeding.pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, feeding.pool));
    return feeding;
}

static struct feeding feed(struct fixture *f, enum weir_when_full when_full)
{
    return feed_within(f, when_full, SPEC_OUTBOX_MAX);
}

static void end_feeding(struct fixture *f, struct feeding *feeding)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, feeding->pool, NULL));
    probe_destroy(feeding->probe);
}

/* The position of the last note; 0: none. */
static uint32_t last_note(struct probe *probe, uint64_t note)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < probe_count(probe); i++)
        if (probe_get(probe, i) == note)
            last = i;
    return last;
}

/* promises P14, O1 and O2: its input is held until the last copy has found room. */
static void test_copy_without_room_waits_for_its_member(void)
{
    struct feeding feeding;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
    fill(&f, 1, LIMIT);
    feeding = feed(&f, WEIR_FULL_WAIT);
    CU_ASSERT_EQUAL(rig_send(&f.rig, feeding.pool->pid, (struct order){ .act = emit }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, WORKERS - 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, feeding.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, WORKERS));
    CU_ASSERT_TRUE(rig_drained(&f.rig, feeding.pool));
    end_feeding(&f, &feeding);
    CU_ASSERT_EQUAL(finish(&f).done, WORKERS + 1 + LIMIT);
}

static int emit_three(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    for (uint64_t id = 77; id < 80; id++)
        if (weir_emit(self, 0, probe_message(self, (struct order){ .id = id })) != 0)
            return WEIR_REJECT;
    return WEIR_DONE;
}

/* promises P14 and S3: later messages wait after a waiting copy. */
static void test_copies_keep_the_order_at_each_member(void)
{
    struct feeding feeding;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 2, .settings.mailbox = 1 });
    fill(&f, 1, 1);
    feeding = feed(&f, WEIR_FULL_WAIT);
    CU_ASSERT_EQUAL(rig_send(&f.rig, feeding.pool->pid, (struct order){ .act = emit_three }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, 1));
    gate_open(&f.probe->gate);
    for (uint64_t id = 77; id < 80; id++)
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 2));
    for (uint64_t id = 78; id < 80; id++)
        CU_ASSERT_TRUE(last_note(f.probe, id) > last_note(f.probe, id - 1));
    end_feeding(&f, &feeding);
    (void)finish(&f);
}

/* --- members that leave --------------------------------------------------------------------- */

/* Two members; the second one is held, and the copy of one message waits for it. */
static struct feeding begin_waiting(struct fixture *f)
{
    struct feeding feeding;

    begin(f, (struct pool_options){ .size = 2, .settings.mailbox = 1 });
    fill(f, 1, 1);
    feeding = feed(f, WEIR_FULL_WAIT);
    CU_ASSERT_EQUAL(rig_send(&f->rig, feeding.pool->pid, (struct order){ .act = emit }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, 77, 1));
    CU_ASSERT_TRUE(rig_wait(&f->rig, holds_its_input, feeding.pool));
    return feeding;
}

/* Two members handle one copy each, and nothing is dead. */
static void finish_waiting(struct fixture *f, struct feeding *feeding)
{
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, 77, 2));
    CU_ASSERT_TRUE(rig_drained(&f->rig, feeding->pool));
    CU_ASSERT_EQUAL(rig_dead(feeding->pool, DEAD_NO_TARGET), 0);
    end_feeding(f, feeding);
    (void)end(f);
    CU_ASSERT_EQUAL(probe_times(f->probe, 77), 2);
    probe_destroy(f->probe);
}

static void replace_workers(struct fixture *f, uint32_t size)
{
    struct pool_change_options options = { .size = size,
                                           .settings.mailbox = 1,
                                           .settings.route = WEIR_ROUTE_BROADCAST };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change *change = NULL;

    options.spec = rig_spec(f->probe);
    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    spec_unref(options.spec);
    runtime_leave(executor);
}

/* promise P14: the worker that leaves is still held. */
static void test_copy_for_a_member_that_is_replaced_goes_to_its_successor(void)
{
    struct fixture f;
    struct feeding feeding = begin_waiting(&f);

    replace_workers(&f, 2);
    finish_waiting(&f, &feeding);
}

/* promise P14: also when nobody is there for a while. */
static void test_copy_waits_for_the_next_member_of_an_empty_pool(void)
{
    struct fixture f;
    struct feeding feeding = begin_waiting(&f);

    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_ledger(feeding.pool).held, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    finish_waiting(&f, &feeding);
}

/* promise P14: the members that stay have had their own. */
static void test_copy_for_a_member_that_nobody_follows_is_not_sent(void)
{
    struct fixture f;
    struct feeding feeding = begin_waiting(&f);

    replace_workers(&f, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, feeding.pool));
    CU_ASSERT_EQUAL(rig_dead(feeding.pool, DEAD_NO_TARGET), 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 77), 1);
    end_feeding(&f, &feeding);
    (void)finish(&f);
}

/* promises P14 and S2 */
static void test_copy_for_a_pool_that_ends_is_dead(void)
{
    struct fixture f;
    struct feeding feeding = begin_waiting(&f);

    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(rig_drained(&f.rig, feeding.pool));
    CU_ASSERT_EQUAL(rig_dead(feeding.pool, DEAD_NO_TARGET), 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, 77), 1);
    end_feeding(&f, &feeding);
    (void)finish(&f);
}

/* --- the outbox ------------------------------------------------------------------------------ */

static int emit_until_full(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .id = 77 });
    uint64_t emitted = 0;

    (void)message;
    for (; weir_emit(self, 0, out) == 0; emitted++)
        out = probe_message(self, (struct order){ .id = 77 });
    weir_message_free(self, out);
    probe_note(probe, emitted);
    return WEIR_DONE;
}

/* promise P14: the first one has had room at one member, two others wait as they are. */
static void test_copies_of_one_message_take_no_room_in_the_outbox(void)
{
    struct feeding feeding;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
    for (uint32_t i = 1; i < WORKERS; i++)
        fill(&f, i, LIMIT);
    feeding = feed_within(&f, WEIR_FULL_WAIT, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, feeding.pool->pid, (struct order){ .act = emit_until_full }),
                    0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, feeding.pool));
    CU_ASSERT_EQUAL(probe_times(feeding.probe, 3), 1);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, 3 * WORKERS));
    CU_ASSERT_TRUE(rig_drained(&f.rig, feeding.pool));
    end_feeding(&f, &feeding);
    (void)finish(&f);
}

/* promise P14 */
static void test_output_that_does_not_wait_has_its_copy_dead_or_refused(void)
{
    static const enum weir_when_full kinds[] = { WEIR_FULL_REJECT, WEIR_FULL_DROP_NEWEST,
                                                 WEIR_FULL_DEAD_LETTER };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct feeding feeding;
        struct fixture f;

        begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
        fill(&f, 1, LIMIT);
        feeding = feed(&f, kinds[i]);
        CU_ASSERT_EQUAL(rig_send(&f.rig, feeding.pool->pid, (struct order){ .act = emit }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, WORKERS - 1));
        CU_ASSERT_TRUE(rig_drained(&f.rig, feeding.pool));
        CU_ASSERT_EQUAL(rig_dead(feeding.pool, DEAD_OUTPUT_FULL), i > 0);
        CU_ASSERT_EQUAL(rig_stats(f.pool).refused, i == 0);
        CU_ASSERT_EQUAL(rig_ledger(feeding.pool).done, 1);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        CU_ASSERT_EQUAL(probe_times(f.probe, 77), WORKERS - 1);
        end_feeding(&f, &feeding);
        (void)finish(&f);
    }
}

static void replay_all(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct replay_result result;

    replay(f->rig.runtime, executor, &pool->dead, outlet_present(&pool->outlets), pool->pid,
           &result);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(result.replayed, 1);
}

/* promise P14: the others have had their own. */
static void test_dead_copy_is_sent_again_to_its_member_alone(void)
{
    struct feeding feeding;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
    fill(&f, 1, LIMIT);
    feeding = feed(&f, WEIR_FULL_DEAD_LETTER);
    CU_ASSERT_EQUAL(rig_send(&f.rig, feeding.pool->pid, (struct order){ .act = emit }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, WORKERS - 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, feeding.pool));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    replay_all(&f, feeding.pool);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 77), WORKERS);
    end_feeding(&f, &feeding);
    (void)finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "wait", test_copy_without_room_waits_for_its_member },
        { "order", test_copies_keep_the_order_at_each_member },
        { "replaced", test_copy_for_a_member_that_is_replaced_goes_to_its_successor },
        { "empty pool", test_copy_waits_for_the_next_member_of_an_empty_pool },
        { "nobody follows", test_copy_for_a_member_that_nobody_follows_is_not_sent },
        { "pool ends", test_copy_for_a_pool_that_ends_is_dead },
        { "outbox", test_copies_of_one_message_take_no_room_in_the_outbox },
        { "no wait", test_output_that_does_not_wait_has_its_copy_dead_or_refused },
        { "dead copy", test_dead_copy_is_sent_again_to_its_member_alone },
        CU_TEST_INFO_NULL,
    };

    return suite_run("copies", tests);
}
