/* SPDX-License-Identifier: MIT */
/*
 * Goal: stashed messages count as held, return to the front in order, are bounded, and are dead
 * with the incarnation.
 *
 * Method: one worker on one thread that stashes orders with argument 1, and unstashes them when
 * ordered.
 */
#include "actor/stash.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
    struct ledger_reading ledger;
};

static int put_aside(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct order *order = message->data;
    int status;

    order->act = probe_done; /* when it comes again */
    status = weir_stash(self, message);
    if (status != 0) {
        probe_note(probe, 500 + (uint64_t)-status);
        return WEIR_REJECT;
    }
    return WEIR_DONE;
}

static int give_back(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    probe_note(probe, 700 + weir_unstash(self, (uint32_t)probe_order(message)->argument));
    return WEIR_DONE;
}

/* Gives one back when it comes again. */
static int put_aside_to_give(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct order *order = message->data;

    (void)probe;
    order->act = give_back;
    order->argument = 1;
    return weir_stash(self, message) == 0 ? WEIR_DONE : WEIR_REJECT;
}

static void begin_limited(struct fixture *f, uint32_t limit)
{
    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
    f->spec = rig_spec(f->probe);
    f->pool = rig_pool(
        &f->rig, &(struct pool_options){ .spec = f->spec, .size = 1, .settings.mailbox = limit });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void begin(struct fixture *f)
{
    begin_limited(f, 0);
}

static void send(struct fixture *f, probe_act *act, uint64_t id, uint64_t argument)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid,
                             (struct order){ .act = act, .id = id, .argument = argument }),
                    0);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &f->ledger));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise A7 */
static void test_stash_comes_back_in_front_and_in_order(void)
{
    static const uint64_t wanted[] = { 1, 2, 3, 50, 702, 1, 2, 4, 51, 701, 3, 5 };
    struct fixture f;

    begin(&f);
    for (uint64_t id = 1; id <= 3; id++)
        send(&f, put_aside, id, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    send(&f, probe_wait, 0, 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).held, 3);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).in_hand, 1);
    send(&f, give_back, 50, 2);
    send(&f, probe_done, 4, 0);
    send(&f, give_back, 51, UINT32_MAX);
    send(&f, probe_done, 5, 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 5, 1));
    for (uint32_t i = 0, j = 0; i < 12; i++, j++) {
        j += j == 3; /* the order that was held */
        CU_ASSERT_EQUAL(probe_get(f.probe, j), wanted[i]);
    }
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 8);
    CU_ASSERT_EQUAL(f.ledger.held, 0);
}

/* promise A7 */
static void test_stash_comes_before_what_was_given_back_earlier(void)
{
    static const uint64_t wanted[] = { 1, 2, 3, 50, 702, 1, 701, 3, 2 };
    struct fixture f;

    begin(&f);
    send(&f, put_aside_to_give, 1, 0);
    send(&f, put_aside, 2, 0);
    send(&f, put_aside, 3, 0);
    send(&f, give_back, 50, 2);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 9; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), wanted[i]);
    finish(&f);
}

/* promise A7 */
static void test_stash_is_bounded(void)
{
    struct fixture f;

    begin(&f);
    for (uint64_t id = 0; id < STASH_MAX + 2; id++)
        send(&f, put_aside, id + 1000, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 500 + (uint64_t)-WEIR_EFULL, 2));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).held, STASH_MAX);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.dead, STASH_MAX + 2); /* it ended without them */
}

/* promise A7 */
static void test_stash_of_a_failed_worker_is_dead_crashed(void)
{
    struct fixture f;

    begin(&f);
    send(&f, put_aside, 1, 0);
    send(&f, put_aside, 2, 0);
    send(&f, probe_fail, 3, 0);
    send(&f, give_back, 4, UINT32_MAX);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 700, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 3);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.dead, 3);
}

/* Waits at the gate when it comes again. */
static int put_aside_to_wait(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct order *order = message->data;

    (void)probe;
    order->act = probe_wait;
    return weir_stash(self, message) == 0 ? WEIR_DONE : WEIR_REJECT;
}

/* As many more as the limit says are taken, and not one besides. */
static void fill(struct fixture *f, uint32_t room)
{
    for (uint32_t i = 0; i < room; i++)
        send(f, probe_done, 80 + i, 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 99 }), WEIR_EFULL);
}

/* promise A7 */
static void test_stash_takes_no_place_of_the_mailbox_and_needs_none(void)
{
    struct fixture f;

    begin_limited(&f, 2);
    for (uint64_t id = 1; id <= 3; id++) {
        send(&f, put_aside_to_wait, id, 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1));
    }
    send(&f, probe_wait, 4, 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send(&f, give_back, 50, UINT32_MAX);
    fill(&f, 1); /* both places are free, since stashed messages take none */
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* 1 is in hand again; 2 and 3 wait in front */
    CU_ASSERT_EQUAL(probe_times(f.probe, 703), 1); /* none was refused by the full mailbox */
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 1);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).held, 2);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).in_hand, 1);
    fill(&f, 1); /* the place that 50 had */
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 7);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

/* promise A7 */
static void test_stash_of_a_removed_worker_is_dead_kept(void)
{
    struct fixture f;

    begin(&f);
    send(&f, put_aside, 1, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_KEPT), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
}

static int put_wrongly(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct weir_message *own = probe_message(self, (struct order){ 0 });

    probe_note(probe, 500 + (uint64_t)-weir_stash(self, own));
    weir_message_free(self, own);
    if (message->lane != WEIR_NORMAL)
        probe_note(probe, 600 + (uint64_t)-weir_stash(self, message));
    return WEIR_DONE;
}

static void test_only_the_message_in_hand_of_the_normal_lane_is_stashed(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, rig_worker(f.pool, 0), WEIR_HIGH,
                                  (struct order){ .act = put_wrongly, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 600 + (uint64_t)-WEIR_EINVALID, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, 500 + (uint64_t)-WEIR_EINVALID), 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "order", test_stash_comes_back_in_front_and_in_order },
        { "before", test_stash_comes_before_what_was_given_back_earlier },
        { "places", test_stash_takes_no_place_of_the_mailbox_and_needs_none },
        { "bounded", test_stash_is_bounded },
        { "failed", test_stash_of_a_failed_worker_is_dead_crashed },
        { "removed", test_stash_of_a_removed_worker_is_dead_kept },
        { "wrong", test_only_the_message_in_hand_of_the_normal_lane_is_stashed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("stash", tests);
}
