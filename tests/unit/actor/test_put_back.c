/* SPDX-License-Identifier: MIT */
/*
 * Goal: a message that its worker has not begun goes back before the normal lane, in order, as the
 * same attempt. Shows promise V6.
 *
 * Method: one worker on one thread keeps a window of messages, and loses it at the times of its
 * timers; the clock stands still until the test moves it.
 */
#include <string.h>

#include "face/messages.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WINDOW 4u
#define LOSS_MS 10u
#define ATTEMPT 10000u /* the note of an attempt: its number times this, and the id */
#define ARMED 9000u    /* the note that the timers of the losses run */
#define STATUS 500u    /* the note of a status: this, and the status without its sign */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
    struct ledger_reading ledger;
    weir_tick *losses[3]; /* at 10, 20 and 30 ms after the window was full first */
    const struct weir_message *kept[WINDOW];
    uint32_t count, wanted; /* of the window; 0 wanted: nothing is kept any more */
    uint32_t begun;         /* of an act that behaves otherwise when its message comes again */
    bool is_armed;
};

static void arm(struct weir_self *self, struct fixture *f)
{
    for (uint32_t i = 0; !f->is_armed && i < sizeof f->losses / sizeof f->losses[0]; i++)
        if (f->losses[i])
            CU_ASSERT_EQUAL(weir_after(self, (i + 1) * LOSS_MS, f->losses[i], f, NULL), 0);
    if (!f->is_armed)
        probe_note(f->probe, ARMED);
    f->is_armed = true;
}

/* The act of all orders: keeps the message while the window has room. */
static int take(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    if (f->count >= f->wanted) {
        probe_note(probe, message->attempt * ATTEMPT + probe_order(message)->id);
        return WEIR_DONE;
    }
    f->kept[f->count++] = message;
    if (f->count == f->wanted)
        arm(self, f);
    return WEIR_KEEP;
}

static void put_back_from(struct weir_self *self, struct fixture *f, uint32_t first)
{
    for (uint32_t i = first; i < f->count; i++)
        CU_ASSERT_EQUAL(weir_put_back(self, f->kept[i]), 0);
    f->count = first;
}

static void begin(struct fixture *f, uint32_t size)
{
    f->probe = probe_create();
    f->probe->behaviour.in_hand = WINDOW;
    f->probe->act = take;
    f->probe->context = f;
    f->wanted = WINDOW;
    rig_init(&f->rig, 1, 0);
    f->spec = rig_spec(f->probe);
    f->spec->redeliver_max = 1;
    f->pool = rig_pool(
        &f->rig, &(struct pool_options){ .spec = f->spec, .size = size, .settings.mailbox = 16 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void send(struct fixture *f, uint64_t from, uint64_t to)
{
    for (uint64_t id = from; id <= to; id++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = id }), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &f->ledger));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* What was begun, in order, without the notes of attempts. */
static void expect_begun(struct fixture *f, const char *wanted)
{
    char got[64] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < probe_count(f->probe) && used < sizeof got - 2; i++)
        if (probe_get(f->probe, i) < STATUS)
            got[used++] = (char)('0' + probe_get(f->probe, i));
    got[used] = '\0';
    CU_ASSERT_STRING_EQUAL(got, wanted);
}

/* --- order and attempts ----------------------------------------------------------------------- */

static void lose_and_fail(struct weir_self *self, void *state, void *context)
{
    struct fixture *f = context;

    (void)state;
    put_back_from(self, f, 1);
    f->wanted = f->count = 0;
    CU_ASSERT_EQUAL(weir_settle(self, f->kept[0], WEIR_FAIL), 0);
}

/* promise V6 */
static void test_window_of_a_failed_worker_costs_one_message(void)
{
    struct fixture f = { .losses = { lose_and_fail } };

    begin(&f, 1);
    send(&f, 1, 6);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, ARMED, 1));
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect_begun(&f, "1234123456");
    CU_ASSERT_EQUAL(probe_times(f.probe, 2 * ATTEMPT + 1), 1); /* the one that is blamed */
    for (uint64_t id = 2; id <= 6; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, ATTEMPT + id), 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retried, 0);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 6);
}

static void lose_and_take_two(struct weir_self *self, void *state, void *context)
{
    struct fixture *f = context;

    (void)state;
    put_back_from(self, f, 0);
    f->wanted = 2;
    CU_ASSERT_EQUAL(weir_set_demand(self, 2), 0);
}

static void lose_all(struct weir_self *self, void *state, void *context)
{
    struct fixture *f = context;

    (void)state;
    put_back_from(self, f, 0);
    f->wanted = 0;
}

/* promise V6: the rest of the first loss does not overtake the second one. */
static void test_order_stays_after_a_second_loss(void)
{
    struct fixture f = { .losses = { lose_and_take_two, lose_all } };

    begin(&f, 1);
    send(&f, 1, 6);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, ARMED, 1));
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 2));
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect_begun(&f, "123412123456");
    finish(&f);
}

static void lose_one_of_two(struct weir_self *self, void *state, void *context)
{
    struct fixture *f = context;

    (void)state;
    CU_ASSERT_EQUAL(weir_set_demand(self, 0), 0);
    CU_ASSERT_EQUAL(weir_put_back(self, f->kept[f->wanted - f->count]), 0);
    CU_ASSERT_EQUAL(weir_unstash(self, 9), 0); /* none: the row goes on */
    f->count--;
}

static void go_on(struct weir_self *self, void *state, void *context)
{
    struct fixture *f = context;

    (void)state;
    f->wanted = 0;
    probe_note(f->probe, STATUS);
    CU_ASSERT_EQUAL(weir_set_demand(self, WINDOW), 0);
}

static bool are_two_held(void *context)
{
    return rig_ledger(context).held == 2;
}

/* promise V6: also of calls in several callbacks; and they are held, not in hand. */
static void test_calls_of_several_callbacks_keep_their_order(void)
{
    struct fixture f = { .losses = { lose_one_of_two, lose_one_of_two, go_on } };
    struct ledger_reading reading;

    begin(&f, 1);
    f.wanted = 2;
    send(&f, 1, 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, ARMED, 1));
    rig_advance(&f.rig, LOSS_MS);
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_two_held, f.pool));
    send(&f, 3, 3);
    reading = rig_ledger(f.pool);
    CU_ASSERT_EQUAL(reading.in_hand, 0);
    CU_ASSERT_EQUAL(reading.queued, 1);
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect_begun(&f, "12123");
    finish(&f);
}

/* --- the message in hand ---------------------------------------------------------------------- */

static int put_back_once(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct fixture *f = probe->context;

    if (f->begun++ > 0)
        return WEIR_DONE;
    CU_ASSERT_EQUAL(weir_put_back(self, message), 0);
    return (int)probe_order(message)->argument;
}

static void put_back_in_hand(enum weir_verdict verdict, uint32_t opened)
{
    struct fixture f = { 0 };

    begin(&f, 1);
    f.wanted = 0;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid,
                             (struct order){ .act = put_back_once, .id = 1, .argument = verdict }),
                    0);
    send(&f, 2, 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    expect_begun(&f, "112");
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), opened);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 2);
}

/* promise V6 */
static void test_message_in_hand_goes_back_before_each_end(void)
{
    put_back_in_hand(WEIR_DONE, 1);
    put_back_in_hand(WEIR_FAIL, 2);
    put_back_in_hand(WEIR_STOP, 2);
}

/* --- what is not the worker's ----------------------------------------------------------------- */

static void note_put_back(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    probe_note(probe, STATUS + (uint64_t)-weir_put_back(self, message));
}

static int put_wrongly(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct weir_message *own = probe_message(self, (struct order){ 0 });

    note_put_back(self, probe, own);
    note_put_back(self, probe, NULL);
    weir_message_free(self, own);
    if (message->lane != WEIR_NORMAL)
        note_put_back(self, probe, message);
    return WEIR_DONE;
}

static int put_twice(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct fixture *f = probe->context;

    if (f->begun++ > 0)
        return WEIR_DONE;
    CU_ASSERT_EQUAL(weir_put_back(self, message), 0);
    note_put_back(self, probe, message);
    CU_ASSERT_EQUAL(weir_settle(self, message, WEIR_DONE), WEIR_EINVALID);
    return WEIR_DONE;
}

static void put_back_at_the_end(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    if (f->kept[0])
        note_put_back(self, probe, f->kept[0]);
}

/* promise V6 */
static void test_only_what_the_worker_has_of_the_normal_lane_goes_back(void)
{
    struct fixture f = { 0 };

    begin(&f, 1);
    f.wanted = 0;
    f.probe->closes = put_back_at_the_end;
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, rig_worker(f.pool, 0), WEIR_HIGH,
                                  (struct order){ .act = put_wrongly, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, STATUS + (uint64_t)-WEIR_EINVALID, 3));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = put_twice, .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, STATUS + (uint64_t)-WEIR_EINVALID, 4));
    f.wanted = 1;
    send(&f, 3, 3);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_fail, .id = 4 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, STATUS + (uint64_t)-WEIR_EINVALID, 6));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 2); /* the third began again */
}

/* --- requests --------------------------------------------------------------------------------- */

static void lose_and_want_none(struct weir_self *self, void *state, void *context)
{
    struct fixture *f = context;

    (void)state;
    CU_ASSERT_EQUAL(weir_set_demand(self, 0), 0);
    put_back_from(self, f, 0);
    probe_note(f->probe, STATUS);
}

/* promise V6: a thread that gives up its request hears that it is not running. */
static void test_request_that_was_put_back_has_not_begun(void)
{
    const struct order order = { .id = 1 };
    struct fixture f = { .losses = { lose_and_want_none, go_on } };
    struct weir_message *message;
    uint64_t event;

    begin(&f, 1);
    f.wanted = 1;
    message = runtime_message_new(f.rig.runtime, NULL, sizeof order);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    memcpy(message->data, &order, sizeof order);
    CU_ASSERT_EQUAL(
        runtime_request(f.rig.runtime,
                        &(struct request_options){ .to = f.pool->pid, .timeout_ms = 1000000 },
                        message, &event),
        0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, ARMED, 1));
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, STATUS, 1));
    CU_ASSERT_EQUAL(runtime_cancel(f.rig.runtime, event), 0);
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect_begun(&f, "1");
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
}

/* --- another worker --------------------------------------------------------------------------- */

/* promise V6: while its worker waits in its back-off, another one gets them, in order. */
static void test_sibling_gets_them_in_order(void)
{
    struct fixture f = { .losses = { lose_and_fail } };

    begin(&f, 2);
    f.spec->restart.max = 0;
    f.spec->restart.then = WEIR_RESTART_KEEP_TRYING;
    f.spec->restart.backoff_ms_min = f.spec->restart.backoff_ms_max = 1000000;
    for (uint64_t id = 1; id <= WINDOW; id++)
        CU_ASSERT_EQUAL(rig_send_routed(&f.rig, f.pool, 1, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, ARMED, 1));
    rig_advance(&f.rig, LOSS_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect_begun(&f, "12341234");
    CU_ASSERT_EQUAL(probe_times(f.probe, 2 * ATTEMPT + 1), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, WINDOW);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one is blamed", test_window_of_a_failed_worker_costs_one_message },
        { "second loss", test_order_stays_after_a_second_loss },
        { "several callbacks", test_calls_of_several_callbacks_keep_their_order },
        { "in hand", test_message_in_hand_goes_back_before_each_end },
        { "wrong", test_only_what_the_worker_has_of_the_normal_lane_goes_back },
        { "request", test_request_that_was_put_back_has_not_begun },
        { "sibling", test_sibling_gets_them_in_order },
        CU_TEST_INFO_NULL,
    };

    return suite_run("put back", tests);
}
