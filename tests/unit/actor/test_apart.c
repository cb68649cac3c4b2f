/* SPDX-License-Identifier: MIT */
/*
 * Goal: the ledger counts work only. Replies, ticks, ends of other actors, inspects, outcomes and
 * messages in the lanes high and urgent, to a worker or to a pool's manager, change none of its
 * figures, whatever their verdict; and they take no place of a mailbox.
 *
 * Method: each kind of message is caused and its handler makes a note; then the ledger must hold
 * the orders that caused it, and no more. Dead ones are found by their reason.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 2u
#define TICK 900
#define REPLY 901
#define TIED 902
#define SETTLED 903
#define LOOKED 904

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    weir_pid worker;
    struct probe *other;
    struct pool *others;
    uint64_t orders; /* in the normal lane, to the pool */
};

static struct probe *probe_of(void *state)
{
    return *(struct probe **)state;
}

static void note_tick(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)context;
    probe_note(probe_of(state), TICK);
}

static void note_reply(struct weir_self *self, void *state, void *context,
                       const struct weir_reply *reply)
{
    (void)self;
    (void)context;
    CU_ASSERT_EQUAL(reply->status, 0);
    probe_note(probe_of(state), REPLY);
}

static void note_look(struct weir_self *self, void *state, void *context,
                      const struct weir_reply *reply)
{
    (void)self;
    (void)context;
    CU_ASSERT_EQUAL(reply->status, 0);
    probe_note(probe_of(state), LOOKED);
}

static void note_settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    (void)outcome;
    probe_note(probe_of(state), SETTLED);
}

static int note_tied(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    (void)message;
    probe_note(probe, TIED);
    return WEIR_DONE;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create(), .other = probe_create() };
    f->probe->behaviour.settled = note_settled;
    f->probe->tied = note_tied;
    rig_init(&f->rig, 2, 0);
    f->others = rig_workers(&f->rig, f->other, "others", 1, LIMIT);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, LIMIT);
    f->worker = rig_worker(f->pool, 0);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->others, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->other);
}

/* An order in the normal lane, which counts. */
static void order(struct fixture *f, probe_act *act, uint64_t argument)
{
    struct order order = { .act = act, .id = ++f->orders, .argument = argument };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, order.id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
}

/* The ledger has the orders, all done, and no other message. */
static void expect_orders_only(struct fixture *f)
{
    struct ledger_reading ledger = rig_ledger(f->pool);

    CU_ASSERT_EQUAL(ledger.accepted, f->orders);
    CU_ASSERT_EQUAL(ledger.done, f->orders);
    CU_ASSERT_EQUAL(ledger.dead + ledger.moved + ledger.queued + ledger.in_hand + ledger.held, 0);
    CU_ASSERT_EQUAL(rig_stats(f->pool).refused, 0);
}

/* --- what comes back to a worker -------------------------------------------------------------- */

static int tick_later(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_after(self, 10, note_tick, NULL, NULL), 0);
    return WEIR_DONE;
}

static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct order order = { .act = probe_reply, .id = 50 };

    (void)probe;
    CU_ASSERT_EQUAL(weir_request(self, probe_order(message)->argument, probe_message(self, order),
                                 60000, note_reply, NULL, NULL),
                    0);
    return WEIR_DONE;
}

static int look(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(
        weir_inspect(self, probe_order(message)->argument, NULL, 60000, note_look, NULL, NULL), 0);
    return WEIR_DONE;
}

static int send_with_origin(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    struct weir_message *sent = probe_message(self, (struct order){ .id = 51 });

    (void)probe;
    CU_ASSERT_EQUAL(weir_set_origin(self, sent, 1), 0);
    CU_ASSERT_EQUAL(weir_send(self, probe_order(message)->argument, sent), 0);
    return WEIR_DONE;
}

/* promise L6 */
static void test_ticks_replies_looks_and_outcomes_are_no_work(void)
{
    struct fixture f;

    begin(&f);
    order(&f, tick_later, 0);
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TICK, 1));
    order(&f, ask, f.others->pid);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, REPLY, 1));
    order(&f, look, f.worker);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, LOOKED, 1));
    order(&f, send_with_origin, f.others->pid);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, SETTLED, 1));
    expect_orders_only(&f);
    finish(&f);
}

static int watch_and_tie(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_trap_exits(self, true), 0);
    CU_ASSERT_EQUAL(weir_monitor(self, probe_order(message)->argument, NULL), 0);
    CU_ASSERT_EQUAL(weir_link(self, probe_order(message)->argument), 0);
    return WEIR_DONE;
}

/* promise L6 */
static void test_ends_of_others_are_no_work(void)
{
    struct fixture f;

    begin(&f);
    order(&f, watch_and_tie, rig_worker(f.others, 0));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.others->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TIED, 2)); /* WEIR_DOWN and WEIR_EXIT */
    expect_orders_only(&f);
    finish(&f);
}

/* --- the lanes high and urgent ---------------------------------------------------------------- */

/* Returns the verdict in the order's argument. */
static int answer(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    return (int)probe_order(message)->argument;
}

static void send_aside(struct fixture *f, enum weir_lane lane, int verdict)
{
    const struct order order = { .act = answer,
                                 .id = 100 + (uint64_t)lane * 10 + (uint64_t)verdict,
                                 .argument = (uint64_t)verdict };

    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->worker, lane, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, order.id, 1));
}

/* promise L6 */
static void test_high_and_urgent_are_outside_whatever_their_verdict(void)
{
    struct fixture f;

    begin(&f);
    for (int lane = WEIR_HIGH; lane <= WEIR_URGENT; lane++) {
        send_aside(&f, (enum weir_lane)lane, WEIR_DONE);
        send_aside(&f, (enum weir_lane)lane, WEIR_REJECT);
        send_aside(&f, (enum weir_lane)lane, WEIR_STOP);
        send_aside(&f, (enum weir_lane)lane, WEIR_FAIL);
    }
    order(&f, probe_done, 0);
    expect_orders_only(&f);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 2);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 2);
    finish(&f);
}

/* promise L6 */
static void test_high_message_in_hand_takes_no_place_and_is_not_in_the_ledger(void)
{
    const struct order held = { .act = probe_wait, .id = 60 };
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.worker, WEIR_HIGH, held), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    expect_orders_only(&f);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.worker, WEIR_HIGH, (struct order){ .id = 61 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 62 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 63 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 64 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).accepted, LIMIT);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, LIMIT);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).in_hand, 0);
    finish(&f);
}

/* --- the manager ------------------------------------------------------------------------------ */

static int ask_for_figures(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    struct weir_message *asked = weir_message_new(self, weir_tag(self, WEIR_POOL_STATS), 0);

    (void)probe;
    CU_ASSERT_EQUAL(weir_request_lane(self, probe_order(message)->argument, WEIR_HIGH, asked, 60000,
                                      note_reply, NULL, NULL),
                    0);
    return WEIR_DONE;
}

static bool has_unhandled(void *context)
{
    return rig_dead(context, DEAD_UNHANDLED) == 1;
}

/* promise L6 */
static void test_messages_for_a_manager_are_no_work_of_its_pool(void)
{
    struct fixture f;

    begin(&f);
    order(&f, ask_for_figures, f.pool->pid);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, REPLY, 1));
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, f.pool->pid, WEIR_URGENT, (struct order){ .id = 70 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_unhandled, f.pool));
    expect_orders_only(&f);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "ticks, replies", test_ticks_replies_looks_and_outcomes_are_no_work },
        { "ends", test_ends_of_others_are_no_work },
        { "verdicts", test_high_and_urgent_are_outside_whatever_their_verdict },
        { "in hand", test_high_message_in_hand_takes_no_place_and_is_not_in_the_ledger },
        { "manager", test_messages_for_a_manager_are_no_work_of_its_pool },
        CU_TEST_INFO_NULL,
    };

    return suite_run("apart", tests);
}
