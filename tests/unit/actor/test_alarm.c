/* SPDX-License-Identifier: MIT */
/*
 * Goal: timers fire when due and never before, once or periodically, until they are cancelled or
 * their incarnation ends; a delayed message is sent once, and its sender learns of a refusal.
 *
 * Method: one worker arms timers as its orders say; the clock stands still until the test moves it.
 * A message that is handled after the clock was moved shows that no timer has fired.
 */
#include <string.h>

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
    rig_advance(&f.rig, 35); /* missed ticks are not made up for */
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
    finish(&f); /* AddressSanitizer reports leaks */
}

/* --- refused when due ------------------------------------------------------------------------ */

#define UNDELIVERED 8
#define SETTLED 9
#define AT_ONCE 100 /* the id of an order whose message is tried again without a delay */
#define BESIDE 50   /* other messages that the worker sends to itself meanwhile */
#define TRIES_MAX 1000

/* The last refusal that the worker got; written in its turns, read after a note. */
struct returned {
    struct weir_undelivered what;
    struct order order; /* of the message, which was still readable */
    uint64_t timer;     /* that was armed */
    uint32_t tries;     /* still to make, at once */
    uint32_t tries_before_beside;
};

/* A worker that sends later to a pool of size 0. */
struct refusal {
    struct fixture f;
    struct returned returned;
    struct probe *other;
    struct pool *empty;
};

static int send_later_to(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct returned *returned = probe->context;
    struct weir_message *later = probe_message(self, (struct order){ .id = 5 });

    CU_ASSERT_EQUAL(
        weir_send_after(self, probe_order(message)->argument, later, 30, &returned->timer), 0);
    return WEIR_DONE;
}

static int send_later_with_origin(struct weir_self *self, struct probe *probe,
                                  const struct weir_message *message)
{
    struct weir_message *later = probe_message(self, (struct order){ .id = 5 });

    (void)probe;
    CU_ASSERT_EQUAL(weir_set_origin(self, later, 77), 0);
    CU_ASSERT_EQUAL(weir_send_after(self, probe_order(message)->argument, later, 30, NULL), 0);
    return WEIR_DONE;
}

static int send_again_at_once(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    struct returned *returned = probe->context;
    struct weir_message *later = probe_message(self, (struct order){ .id = AT_ONCE });

    CU_ASSERT_EQUAL(
        weir_send_after(self, probe_order(message)->argument, later, 0, &returned->timer), 0);
    return WEIR_DONE;
}

/* The state of a probe begins with a pointer to it. */
static struct probe *probe_of(void *state)
{
    return *(struct probe **)state;
}

static int handle_beside(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct returned *returned = probe->context;

    (void)self;
    (void)message;
    returned->tries_before_beside = returned->tries;
    return WEIR_DONE;
}

/* The clock stands still: it is due as soon as it is armed. */
static void try_at_once(struct weir_self *self, struct probe *probe, weir_pid to)
{
    const struct order beside = { .act = handle_beside, .id = BESIDE };
    struct returned *returned = probe->context;

    if (returned->tries++ == 0)
        CU_ASSERT_EQUAL(weir_send(self, weir_pid_of(self), probe_message(self, beside)), 0);
    if (returned->tries < TRIES_MAX)
        CU_ASSERT_EQUAL(
            weir_send_after(self, to, probe_message(self, returned->order), 0, &returned->timer),
            0);
}

static void note_undelivered(struct weir_self *self, void *state, const struct weir_undelivered *it)
{
    struct probe *probe = probe_of(state);
    struct returned *returned = probe->context;

    returned->what = *it;
    returned->order = *probe_order(it->message);
    if (returned->order.id == AT_ONCE)
        try_at_once(self, probe, it->to);
    probe_note(probe, UNDELIVERED);
}

static void note_settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    CU_ASSERT_EQUAL(outcome->token, 77);
    CU_ASSERT_EQUAL(outcome->result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_STRING_EQUAL(outcome->reason, "full");
    probe_note(probe_of(state), SETTLED);
}

static void refuse_begin(struct refusal *r, bool has_callback)
{
    struct fixture *f = &r->f;

    memset(r, 0, sizeof *r);
    f->probe = probe_create();
    f->probe->behaviour.undelivered = has_callback ? note_undelivered : NULL;
    f->probe->behaviour.settled = note_settled;
    f->probe->context = &r->returned;
    rig_init(&f->rig, 1, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 2);
    f->markers = 10000;
    r->other = probe_create();
    r->empty = rig_workers(&f->rig, r->other, "empty", 0, 1);
}

static void refuse_finish(struct refusal *r)
{
    CU_ASSERT_TRUE(rig_end(&r->f.rig, r->empty, NULL));
    finish(&r->f);
    probe_destroy(r->other);
}

static bool has_full(void *context)
{
    return rig_dead(context, DEAD_FULL) == 1;
}

/* promise A17 */
static void test_owner_is_notified_of_a_message_refused_when_due(void)
{
    struct refusal r;

    refuse_begin(&r, true);
    order(&r.f, send_later_to, r.empty->pid);
    rig_advance(&r.f.rig, 30);
    CU_ASSERT_TRUE(rig_noted(&r.f.rig, r.f.probe, UNDELIVERED, 1));
    CU_ASSERT_EQUAL(rig_dead(r.f.pool, DEAD_FULL), 1);
    CU_ASSERT_EQUAL(r.returned.what.timer, r.returned.timer);
    CU_ASSERT_EQUAL(r.returned.what.to, r.empty->pid);
    CU_ASSERT_EQUAL(r.returned.what.status, WEIR_EFULL);
    CU_ASSERT_EQUAL(r.returned.order.id, 5);
    rig_advance(&r.f.rig, 100);
    order(&r.f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(r.f.probe, UNDELIVERED), 1);
    refuse_finish(&r);
}

/* promise A17 */
static void test_owner_is_notified_of_an_unknown_receiver(void)
{
    struct refusal r;

    refuse_begin(&r, true);
    order(&r.f, send_later_to, 0);
    rig_advance(&r.f.rig, 30);
    CU_ASSERT_TRUE(rig_noted(&r.f.rig, r.f.probe, UNDELIVERED, 1));
    CU_ASSERT_EQUAL(rig_dead(r.f.pool, DEAD_NO_TARGET), 1);
    CU_ASSERT_EQUAL(r.returned.what.status, WEIR_EUNKNOWN);
    refuse_finish(&r);
}

/* promise A17 */
static void test_owner_that_tries_again_at_once_does_other_things_too(void)
{
    struct refusal r;

    refuse_begin(&r, true);
    order(&r.f, send_again_at_once, r.empty->pid);
    CU_ASSERT_TRUE(rig_noted(&r.f.rig, r.f.probe, UNDELIVERED, TRIES_MAX));
    order(&r.f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(r.f.probe, BESIDE), 1);
    CU_ASSERT_TRUE(r.returned.tries_before_beside < TRIES_MAX);
    refuse_finish(&r);
}

/* promise A17 */
static void test_message_with_an_origin_is_reported_by_settled_alone(void)
{
    struct refusal r;

    refuse_begin(&r, true);
    order(&r.f, send_later_with_origin, r.empty->pid);
    rig_advance(&r.f.rig, 30);
    CU_ASSERT_TRUE(rig_noted(&r.f.rig, r.f.probe, SETTLED, 1));
    order(&r.f, probe_done, 0);
    CU_ASSERT_EQUAL(probe_times(r.f.probe, UNDELIVERED), 0);
    refuse_finish(&r);
}

static void test_message_refused_when_due_is_dead_full(void)
{
    struct refusal r;

    refuse_begin(&r, false);
    order(&r.f, send_later_to, r.empty->pid);
    rig_advance(&r.f.rig, 30);
    CU_ASSERT_TRUE(rig_wait(&r.f.rig, has_full, r.f.pool));
    refuse_finish(&r);
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
        { "returned", test_owner_is_notified_of_a_message_refused_when_due },
        { "empty", test_owner_is_notified_of_an_unknown_receiver },
        { "again at once", test_owner_that_tries_again_at_once_does_other_things_too },
        { "origin", test_message_with_an_origin_is_reported_by_settled_alone },
        CU_TEST_INFO_NULL,
    };

    return suite_run("alarm", tests);
}
