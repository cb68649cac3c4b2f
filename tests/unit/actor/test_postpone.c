/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that postpones a message takes no new one until that one comes again, whatever
 * becomes of other messages that wait for a retry (promise V5).
 * Method: orders that lack something until the test says that it is there; a clock that the test
 * moves.
 */
#include <weir/status.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SHORT_MS 10u
#define LONG_MS 1000u
#define POSTPONED 100u
#define RETRIED 200u
#define BEGUN 300u /* a new message; plus 1: while the other one waits */

static atomic_bool is_there;

static int postpone(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    probe_note(probe, POSTPONED + message->attempt);
    weir_retry_after(self, LONG_MS);
    return atomic_load(&is_there) ? WEIR_DONE : WEIR_POSTPONE;
}

static int retry_soon(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    probe_note(probe, RETRIED + message->attempt);
    weir_retry_after(self, SHORT_MS);
    return message->attempt <= 2 ? WEIR_RETRY : WEIR_DONE;
}

static int retry_late(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    probe_note(probe, RETRIED + message->attempt);
    weir_retry_after(self, 2 * LONG_MS);
    return message->attempt == 1 ? WEIR_RETRY : WEIR_DONE;
}

static int begin_new(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    (void)message;
    probe_note(probe, BEGUN + (atomic_load(&is_there) ? 0 : 1));
    return WEIR_DONE;
}

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

/* The worker has a message that is to be retried, a postponed one, and a new one. */
static void begin(struct fixture *f, probe_act *other)
{
    atomic_store(&is_there, false);
    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 8);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 1, .act = other }), 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 2, .act = postpone }), 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = 3, .act = begin_new }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, POSTPONED + 1, 1));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 3);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise V5 */
static void test_retry_that_is_due_lets_no_new_message_in(void)
{
    struct fixture f;

    begin(&f, retry_soon);
    rig_advance(&f.rig, SHORT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, RETRIED + 2, 1)); /* the turn has room for more */
    rig_advance(&f.rig, SHORT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, RETRIED + 3, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, BEGUN + 1), 0);
    atomic_store(&is_there, true);
    rig_advance(&f.rig, LONG_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, BEGUN, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    finish(&f);
}

static void test_retry_that_waits_on_lets_new_messages_in(void)
{
    struct fixture f;

    begin(&f, retry_late);
    atomic_store(&is_there, true);
    rig_advance(&f.rig, LONG_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, BEGUN, 1));
    rig_advance(&f.rig, LONG_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "due", test_retry_that_is_due_lets_no_new_message_in },
        { "waits on", test_retry_that_waits_on_lets_new_messages_in },
        CU_TEST_INFO_NULL,
    };

    return suite_run("postpone", tests);
}
