/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that postpones messages gets no other one before they come again, of whatever
 * lane, whatever becomes of messages that wait for a retry (promise V5).
 * Method: orders that lack something until the test says that it is there; a clock that the test
 * moves; a timer of the worker shows that it has had a turn meanwhile.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SHORT_MS 10u
#define LONG_MS 1000u
#define TURN 100u /* note of a turn at SHORT_MS */
#define NEW 8u    /* the id of a new message */
#define URGENT 9u /* the id of an urgent one */

static atomic_bool is_there;
static const struct weir_message *kept;
static const struct weir_message *kept_later;

static void note_turn(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    probe_note(context, TURN);
}

static int postpone_for(struct weir_self *self, uint32_t delay_ms)
{
    weir_retry_after(self, delay_ms);
    return atomic_load(&is_there) ? WEIR_DONE : WEIR_POSTPONE;
}

static int postpone(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    if (!atomic_load(&is_there))
        CU_ASSERT_EQUAL(weir_after(self, SHORT_MS, note_turn, probe, NULL), 0);
    return postpone_for(self, LONG_MS);
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    if (atomic_load(&is_there))
        return WEIR_DONE;
    kept = message;
    return WEIR_KEEP;
}

static int keep_later(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)self;
    (void)probe;
    if (atomic_load(&is_there))
        return WEIR_DONE;
    kept_later = message;
    return WEIR_KEEP;
}

/* The first comes again late, the second soon, and this one between them. */
static int postpone_three(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    (void)message;
    if (!atomic_load(&is_there)) {
        CU_ASSERT_EQUAL(weir_after(self, SHORT_MS, note_turn, probe, NULL), 0);
        CU_ASSERT_EQUAL(weir_after(self, 2 * SHORT_MS, note_turn, probe, NULL), 0);
        weir_retry_after(self, LONG_MS);
        CU_ASSERT_EQUAL(weir_settle(self, kept, WEIR_POSTPONE), 0);
        weir_retry_after(self, SHORT_MS);
        CU_ASSERT_EQUAL(weir_settle(self, kept_later, WEIR_POSTPONE), 0);
    }
    return postpone_for(self, 2 * SHORT_MS);
}

/* The kept message comes again late, this one soon. */
static int postpone_both(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    if (!atomic_load(&is_there)) {
        (void)postpone(self, probe, message);
        CU_ASSERT_EQUAL(weir_settle(self, kept, WEIR_POSTPONE), 0);
    }
    return postpone_for(self, SHORT_MS);
}

static int retry_soon(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    weir_retry_after(self, SHORT_MS);
    return message->attempt == 1 ? WEIR_RETRY : WEIR_DONE;
}

static int retry_late(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    weir_retry_after(self, 2 * LONG_MS);
    return message->attempt == 1 ? WEIR_RETRY : WEIR_DONE;
}

/* It lacks the same, and cannot come again. */
static int need(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return atomic_load(&is_there) ? WEIR_DONE : WEIR_POSTPONE;
}

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t given; /* before the new one; of these as many are held */
};

static void send(struct fixture *f, uint64_t id, probe_act *act)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = id, .act = act }), 0);
}

static bool has_all_held(void *context)
{
    const struct fixture *f = context;

    return rig_stats(f->pool).held == f->given;
}

/* The worker gets messages, up to a NULL, has postponed some, and has a new and an urgent one. */
static void begin(struct fixture *f, probe_act *const *acts)
{
    struct pool_options options = { .size = 1, .settings.mailbox = 8 };

    atomic_store(&is_there, false);
    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    options.spec = rig_spec(f->probe);
    options.spec->in_hand_max = 3;
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    for (f->given = 0; acts[f->given]; f->given++)
        send(f, f->given + 1, acts[f->given]);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, f->given, 1));
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_all_held, f)); /* the callback is over */
    send(f, NEW, need);
    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, rig_worker(f->pool, 0), WEIR_URGENT,
                                  (struct order){ .id = URGENT, .act = need }),
                    0);
}

/* All are handled in this order, with UINT64_MAX at the end. */
static void finish(struct fixture *f, const uint64_t *ids)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    for (uint32_t i = 0; i == 0 || ids[i - 1] != UINT64_MAX; i++)
        CU_ASSERT_EQUAL(probe_get(f->probe, i), ids[i]);
    CU_ASSERT_EQUAL(rig_dead(f->pool, DEAD_REJECTED), 0);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->given + 1);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise V5 */
static void test_retry_that_is_due_lets_no_message_in(void)
{
    struct fixture f;

    begin(&f, (probe_act *const[]){ retry_soon, postpone, NULL });
    rig_advance(&f.rig, SHORT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TURN, 1));
    atomic_store(&is_there, true);
    rig_advance(&f.rig, LONG_MS);
    finish(&f, (const uint64_t[]){ 1, 2, TURN, 2, URGENT, 1, NEW, UINT64_MAX });
}

static void test_retry_that_waits_on_lets_new_messages_in(void)
{
    struct fixture f;

    begin(&f, (probe_act *const[]){ retry_late, postpone, NULL });
    rig_advance(&f.rig, SHORT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TURN, 1));
    atomic_store(&is_there, true);
    rig_advance(&f.rig, LONG_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NEW, 1));
    rig_advance(&f.rig, LONG_MS);
    finish(&f, (const uint64_t[]){ 1, 2, TURN, 2, URGENT, NEW, 1, UINT64_MAX });
}

/* promise V5 */
static void test_last_of_several_delays_counts(void)
{
    struct fixture f;

    begin(&f, (probe_act *const[]){ keep, postpone_both, NULL });
    rig_advance(&f.rig, SHORT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TURN, 1));
    atomic_store(&is_there, true);
    rig_advance(&f.rig, LONG_MS);
    finish(&f, (const uint64_t[]){ 1, 2, TURN, 1, URGENT, 2, NEW, UINT64_MAX });
}

/* promise V5 */
static void test_several_come_again_in_their_order(void)
{
    struct fixture f;

    begin(&f, (probe_act *const[]){ keep, keep_later, postpone_three, NULL });
    for (uint32_t i = 1; i <= 2; i++) {
        rig_advance(&f.rig, SHORT_MS);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, TURN, i));
    }
    atomic_store(&is_there, true);
    rig_advance(&f.rig, LONG_MS);
    finish(&f, (const uint64_t[]){ 1, 2, 3, TURN, TURN, 1, URGENT, 2, 3, NEW, UINT64_MAX });
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "due", test_retry_that_is_due_lets_no_message_in },
        { "waits on", test_retry_that_waits_on_lets_new_messages_in },
        { "several", test_last_of_several_delays_counts },
        { "order", test_several_come_again_in_their_order },
        CU_TEST_INFO_NULL,
    };

    return suite_run("postpone", tests);
}
