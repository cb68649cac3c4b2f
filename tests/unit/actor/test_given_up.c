/* SPDX-License-Identifier: MIT */
/*
 * Goal: a request whose requester has given up is not handled, is dead with the reason, and leaves
 * nothing behind; a handler that has begun can learn that its reply is not wanted any more.
 *
 * Method: the receiver waits at a gate while its next request is given up: by the time-out (the
 * test moves the clock, and waits for the next beat of the timekeeper), by a cancel, and by a
 * failure of the requester.
 */
#include "runtime.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TIMEOUT_MS 100
#define NOTES 5000u

struct fixture {
    struct rig rig;
    struct probe *asking;
    struct probe *answering;
    struct pool *askers;
    struct pool *answerers;
    uint64_t reference; /* of the last question */
    uint32_t beat;      /* before time passed */
};

static void begin(struct fixture *f, uint32_t budget, uint32_t flags)
{
    f->asking = probe_create();
    f->answering = probe_create();
    f->answering->behaviour.flags |= flags;
    rig_init(&f->rig, 2, budget);
    f->answerers = rig_workers(&f->rig, f->answering, "answerers", 1, 4);
    f->askers = rig_workers(&f->rig, f->asking, "askers", 1, 16);
    f->asking->context = f;
    f->answering->context = f;
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->askers, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->answerers, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f->rig.runtime->given_up.count), 0);
    rig_finish(&f->rig);
    probe_destroy(f->asking);
    probe_destroy(f->answering);
}

/* The receiver is at the gate, with a message that is no request. */
static void hold(struct fixture *f)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->answerers->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f->answering->gate, 1));
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    probe_note(context, 2000 + (uint64_t)-reply->status);
}

/* Requests the act in the order's argument; as order 501. */
static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message,
               uint64_t timeout_ms)
{
    struct fixture *f = probe->context;
    const struct order *order = probe_order(message);
    struct weir_message *question = probe_message(
        self, (struct order){ .act = (probe_act *)(uintptr_t)order->argument, .id = 501 });

    CU_ASSERT_EQUAL(
        weir_request(self, f->answerers->pid, question, timeout_ms, answered, probe, &f->reference),
        0);
    return WEIR_DONE;
}

static int ask_for_a_while(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    return ask(self, probe, message, TIMEOUT_MS);
}

static int ask_for_ever(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    return ask(self, probe, message, UINT64_MAX);
}

static void order_and_wait(struct fixture *f, probe_act *act, probe_act *argument, uint64_t id)
{
    const struct order order = { act, id, (uint64_t)(uintptr_t)argument };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->askers->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->asking, id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->askers));
}

static uint64_t late_replies(struct fixture *f)
{
    return atomic_load(&f->rig.runtime->late_replies);
}

static bool has_late_reply(void *context)
{
    return late_replies(context) == 1;
}

static bool has_beaten(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->answerers->dispatcher->beat) != f->beat;
}

/* The clock moves on, and the timekeeper makes a beat. */
static void pass_time(struct fixture *f)
{
    f->beat = atomic_load(&f->answerers->dispatcher->beat);
    rig_advance(&f->rig, TIMEOUT_MS);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_beaten, f));
}

/* The receiver waits at the gate with another message; time passes while the request waits. */
static void expect_expired(uint32_t budget, uint32_t flags)
{
    struct fixture f;

    begin(&f, budget, flags);
    hold(&f);
    order_and_wait(&f, ask_for_a_while, probe_reply, 1);
    pass_time(&f);
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.answerers));
    CU_ASSERT_EQUAL(rig_dead(f.answerers, DEAD_EXPIRED), 1);
    CU_ASSERT_EQUAL(probe_times(f.answering, 501), 0);
    finish(&f);
}

/* promise S13: for any budget of the dispatcher, and after any other message. */
static void test_expired_request_never_begins(void)
{
    expect_expired(0, 0);
    expect_expired(1, 0);
    expect_expired(1, WEIR_BLOCKING);
    expect_expired(0, WEIR_BLOCKING);
}

static int cancel(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_cancel(self, f->reference), 0);
    return WEIR_DONE;
}

/* A request that waits while the receiver is at the gate, given up by `act` of the requester. */
static void expect_cancelled(probe_act *act)
{
    struct fixture f;

    begin(&f, 0, 0);
    hold(&f);
    order_and_wait(&f, ask_for_ever, probe_reply, 1);
    order_and_wait(&f, act, NULL, 2);
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.answerers));
    CU_ASSERT_EQUAL(rig_dead(f.answerers, DEAD_CANCELLED), 1);
    CU_ASSERT_EQUAL(probe_times(f.answering, 501), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_late_reply, &f));
    finish(&f);
}

/* promise S13 */
static void test_cancelled_request_never_begins(void)
{
    expect_cancelled(cancel);
}

/* promise S13: the incarnation has ended, and the next one has no such request. */
static void test_request_of_a_failed_requester_never_begins(void)
{
    expect_cancelled(probe_fail);
}

/* Waits at the gate; then notes whether the reply is wanted, and the status of a reply. */
static int reply_late(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct weir_message *reply = probe_message(self, (struct order){ .id = 1 });
    int status;

    CU_ASSERT_TRUE(weir_is_wanted(self, message));
    (void)gate_pass(&probe->gate);
    CU_ASSERT_FALSE(weir_is_wanted(self, message));
    status = weir_reply(self, message, reply);
    weir_message_free(self, reply);
    probe_note(probe, 5000 + (uint64_t)-status);
    return WEIR_DONE;
}

/* promise S13 */
static void test_late_reply_gets_the_reason(void)
{
    struct fixture f;

    begin(&f, 0, 0);
    order_and_wait(&f, ask_for_a_while, reply_late, 1);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1));
    atomic_fetch_add(&f.rig.now_ns, (uint64_t)TIMEOUT_MS * 1000000u);
    gate_admit(&f.answering->gate, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 5000 + (uint64_t)-WEIR_ETIMEOUT, 1));
    order_and_wait(&f, ask_for_ever, reply_late, 2);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 2));
    order_and_wait(&f, cancel, NULL, 3);
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 5000 + (uint64_t)-WEIR_ECANCELLED, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.answerers));
    CU_ASSERT_EQUAL(late_replies(&f), 2);
    finish(&f);
}

/* The table alone: many entries, found and removed in another order, and no others. */
static void test_notes_are_found_until_they_are_taken(void)
{
    struct given_up given_up;
    uint32_t wrong = 0;

    given_up_init(&given_up);
    for (uint64_t i = 1; i <= NOTES; i++)
        given_up_add(&given_up, i % 7, i << 24);
    given_up_add(&given_up, 1, 1ull << 24); /* it is there already */
    CU_ASSERT_EQUAL(atomic_load(&given_up.count), NOTES);
    for (uint64_t i = 1; i <= NOTES; i += 3)
        wrong += !given_up_take(&given_up, i % 7, i << 24);
    for (uint64_t i = 1; i <= NOTES; i++) {
        wrong += given_up_has(&given_up, i % 7, i << 24) != (i % 3 != 1);
        wrong += given_up_has(&given_up, i % 7 + 1, i << 24);
    }
    for (uint64_t i = NOTES; i > 0; i--)
        wrong += given_up_take(&given_up, i % 7, i << 24) != (i % 3 != 1);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(atomic_load(&given_up.count), 0);
    CU_ASSERT_FALSE(given_up_take(&given_up, 1, 1ull << 24));
    given_up_finish(&given_up);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "expired", test_expired_request_never_begins },
        { "cancelled", test_cancelled_request_never_begins },
        { "requester failed", test_request_of_a_failed_requester_never_begins },
        { "late reply", test_late_reply_gets_the_reason },
        { "notes", test_notes_are_found_until_they_are_taken },
        CU_TEST_INFO_NULL,
    };

    return suite_run("given up", tests);
}
