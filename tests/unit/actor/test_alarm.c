/*
 * Goal: timers fire when due and never before, once or again and again, until they are cancelled
 * or their incarnation ends; a message that is sent later is sent once.
 *
 * Method: one worker that arms timers as ordered; the clock stands still until it is moved. That
 * nothing has fired is shown by a message that is handled after the clock was moved.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t markers;
};

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 2);
    f->markers = 10000;
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Sends an order and waits until it has been handled. */
static void order(struct fixture *f, probe_act *act, uint64_t argument)
{
    struct order order = { .act = act, .id = f->markers++, .argument = argument };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, order.id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
}

static void tick(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    probe_note(context, 1);
}

static int after(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t timer = 0;

    CU_ASSERT_EQUAL(weir_after(self, probe_order(message)->argument, tick, probe, &timer), 0);
    probe->context = (void *)(uintptr_t)timer;
    return WEIR_DONE;
}

/* promise A6 */
static void test_timer_fires_when_due_and_not_before(void)
{
    struct fixture f;

    begin(&f);
    order(&f, after, 20);
    rig_advance(&f.rig, 19);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 0);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    rig_advance(&f.rig, 100);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 1);
    finish(&f);
}

static int every(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t timer = 0;

    (void)message;
    CU_ASSERT_EQUAL(weir_every(self, 10, tick, probe, &timer), 0);
    CU_ASSERT_EQUAL(weir_every(self, 0, tick, probe, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_after(self, 1, NULL, probe, NULL), WEIR_EINVALID);
    probe->context = (void *)(uintptr_t)timer;
    return WEIR_DONE;
}

static int cancel(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t timer = (uint64_t)(uintptr_t)probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_cancel_timer(self, timer), 0);
    CU_ASSERT_EQUAL(weir_cancel_timer(self, timer), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_cancel_timer(self, 0), WEIR_EUNKNOWN);
    return WEIR_DONE;
}

/* promise A6 */
static void test_periodic_timer_fires_until_it_is_cancelled(void)
{
    struct fixture f;

    begin(&f);
    order(&f, every, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        rig_advance(&f.rig, 10);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, i));
    }
    rig_advance(&f.rig, 35); /* missed beats are not made up for */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 4));
    order(&f, cancel, 0);
    rig_advance(&f.rig, 100);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 4);
    finish(&f);
}

static void test_cancelled_timer_does_not_fire(void)
{
    struct fixture f;

    begin(&f);
    order(&f, after, 20);
    order(&f, cancel, 0);
    rig_advance(&f.rig, 100);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 0);
    finish(&f);
}

/* promise A6 */
static void test_timer_ends_with_its_incarnation(void)
{
    struct fixture f;

    begin(&f);
    order(&f, after, 20);
    order(&f, probe_fail, 0);
    rig_advance(&f.rig, 100);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 0);
    finish(&f);
}

static int send_later(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct weir_message *later = probe_message(self, (struct order){ .act = probe->act, .id = 5 });
    uint64_t timer = 0;

    CU_ASSERT_EQUAL(
        weir_send_after(self, weir_pool(self), later, probe_order(message)->argument, &timer), 0);
    probe->context = (void *)(uintptr_t)timer;
    return WEIR_DONE;
}

static int note_sender(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    probe_note(probe, message->from == weir_pid_of(self) ? 6 : 7);
    return WEIR_DONE;
}

/* promise A6 */
static void test_message_sent_later_comes_once_from_its_sender(void)
{
    struct fixture f;

    begin(&f);
    f.probe->act = note_sender;
    order(&f, send_later, 30);
    rig_advance(&f.rig, 29);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 5), 0);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 6, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, 5), 1);
    finish(&f);
}

static void test_message_not_sent_yet_is_freed_by_cancel_and_end(void)
{
    struct fixture f;

    begin(&f);
    order(&f, send_later, 30);
    order(&f, cancel, 0);
    order(&f, send_later, 30);
    order(&f, probe_fail, 0);
    rig_advance(&f.rig, 100);
    order(&f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 5), 0);
    finish(&f); /* AddressSanitizer sees what is not freed */
}

static bool has_full(void *context)
{
    return rig_dead(context, DEAD_FULL) == 1;
}

static int send_later_to(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct weir_message *later = probe_message(self, (struct order){ .id = 5 });

    (void)probe;
    CU_ASSERT_EQUAL(weir_send_after(self, probe_order(message)->argument, later, 30, NULL), 0);
    return WEIR_DONE;
}

static void test_message_refused_when_due_is_dead_full(void)
{
    struct probe *other = probe_create();
    struct fixture f;
    struct pool *nobody;

    begin(&f);
    nobody = rig_workers(&f.rig, other, "nobody", 0, 1);
    order(&f, send_later_to, nobody->pid);
    rig_advance(&f.rig, 30);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_full, f.pool));
    CU_ASSERT_TRUE(rig_end(&f.rig, nobody, NULL));
    finish(&f);
    probe_destroy(other);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "due", test_timer_fires_when_due_and_not_before },
        { "every", test_periodic_timer_fires_until_it_is_cancelled },
        { "cancelled", test_cancelled_timer_does_not_fire },
        { "incarnation", test_timer_ends_with_its_incarnation },
        { "sent later", test_message_sent_later_comes_once_from_its_sender },
        { "not sent", test_message_not_sent_yet_is_freed_by_cancel_and_end },
        { "full", test_message_refused_when_due_is_dead_full },
        CU_TEST_INFO_NULL,
    };

    return suite_run("alarm", tests);
}
