/* SPDX-License-Identifier: MIT */
/*
 * Goal: a request gets exactly one answer: the reply, an immediate error, or the time-out, which is
 * never early; forwarding changes nothing for the requester.
 *
 * Method: a pool that sends requests and a pool that replies, on one thread and on two; answers
 * become notes. The clock stands still until the test moves it.
 */
#include <stdlib.h>

#include "face/messages.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ANSWERED 2000u /* a note: ANSWERED - status */
#define TIMEOUT_MS 100
#define TIMEOUT_LONG_MS 600000

struct fixture {
    struct rig rig;
    struct probe *asking;
    struct probe *answering;
    struct pool *askers;
    struct pool *answerers;
    const struct weir_message *kept;
    char detail[64]; /* of the last answer; written before its note */
};

static void begin(struct fixture *f, uint32_t threads, uint32_t limit)
{
    f->asking = probe_create();
    f->answering = probe_create();
    rig_init(&f->rig, threads, 0);
    f->answerers = rig_workers(&f->rig, f->answering, "answerers", 1, limit);
    f->askers = rig_workers(&f->rig, f->asking, "askers", 1, 16);
    f->asking->context = f;
    f->answering->context = f;
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->askers, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->answerers, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->asking);
    probe_destroy(f->answering);
}

/* The continuation: notes the status, and of a reply the id. */
static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct probe *probe = context;
    struct fixture *f = probe->context;

    (void)self;
    (void)state;
    (void)snprintf(f->detail, sizeof f->detail, "%s", reply->detail);
    if (reply->message)
        probe_note(probe, probe_order(reply->message)->id);
    probe_note(probe, ANSWERED + (uint64_t)-reply->status);
    if (reply->detail[0])
        probe_note(probe, (uint64_t)reply->detail[0]);
}

/* A request: `argument` has the act of the receiver. */
static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    const struct order *order = probe_order(message);
    struct weir_message *question;
    int status;

    question = probe_message(self, (struct order){ .act = (probe_act *)(uintptr_t)order->argument,
                                                   .id = order->id + 500 });
    status = weir_request(self, f->answerers->pid, question, TIMEOUT_MS, answered, probe, NULL);
    if (status != 0) {
        CU_ASSERT_EQUAL(question->kind, WEIR_MESSAGE);
        weir_message_free(self, question);
        probe_note(probe, 3000 + (uint64_t)-status);
    }
    return WEIR_DONE;
}

static void order_question(struct fixture *f, probe_act *act, uint64_t id)
{
    struct order order = { .act = ask, .id = id, .argument = (uint64_t)(uintptr_t)act };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->askers->pid, order), 0);
}

static uint64_t late_replies(struct fixture *f)
{
    return atomic_load(&f->rig.runtime->late_replies);
}

/* promise S6 */
static void reply_on(uint32_t threads)
{
    struct fixture f;

    begin(&f, threads, 4);
    for (uint64_t id = 0; id < 50; id++) {
        order_question(&f, probe_reply, id);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED, (uint32_t)id + 1));
        CU_ASSERT_EQUAL(probe_times(f.asking, id + 1500), 1);
    }
    CU_ASSERT_EQUAL(late_replies(&f), 0);
    finish(&f);
}

static void test_request_on_one_thread_gets_its_reply(void)
{
    reply_on(1);
}

static void test_request_on_two_threads_gets_its_reply(void)
{
    reply_on(2);
}

/* One answer that is an error. */
static void expect_answer(probe_act *act, int status)
{
    struct fixture f;

    begin(&f, 2, 4);
    order_question(&f, act, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED + (uint64_t)-status, 1));
    CU_ASSERT_EQUAL(probe_count(f.asking), act == probe_fail ? 3 : 2);
    finish(&f);
}

/* promise S6 */
static void test_request_handled_without_reply_gets_noreply(void)
{
    expect_answer(probe_done, WEIR_ENOREPLY);
}

static int reject(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_REJECT;
}

/* promise S6 */
static void test_rejected_request_gets_rejected(void)
{
    expect_answer(reject, WEIR_EREJECTED);
}

#define LONG_REASON "a reason as long as reasons are, 47 characters."

static int reject_at_length(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "%s", LONG_REASON);
    return WEIR_REJECT;
}

static void test_reason_longer_than_the_question_is_reported_whole(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    order_question(&f, reject_at_length, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED + (uint64_t)-WEIR_EREJECTED, 1));
    CU_ASSERT_STRING_EQUAL(f.detail, LONG_REASON);
    finish(&f);
}

/* promise S6: with the worker's own words, the `o` of "order". */
static void test_crashed_request_gets_crashed_with_the_reason(void)
{
    expect_answer(probe_fail, WEIR_ECRASHED);
}

static int reply_twice(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)probe_reply(self, probe, message);
    return probe_reply(self, probe, message);
}

/* promise S6 */
static void test_second_reply_is_not_allowed(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    order_question(&f, reply_twice, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, (uint64_t)-WEIR_ENOTALLOWED, 1));
    CU_ASSERT_EQUAL(probe_times(f.asking, ANSWERED), 1);
    finish(&f);
}

static void test_message_that_is_no_request_cannot_be_replied_to(void)
{
    struct fixture f;
    struct order order = { .act = probe_reply, .id = 1 };

    begin(&f, 1, 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.answerers->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, (uint64_t)-WEIR_EINVALID, 1));
    finish(&f);
}

/* promises S1 and S6: impossible requests fail at once. */
static void test_request_to_a_full_pool_is_refused_at_once(void)
{
    struct fixture f;

    begin(&f, 2, 1);
    for (uint64_t id = 0; id < 2; id++) {
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.answerers->pid, (struct order){ .act = probe_wait, .id = id }), 0);
        CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1));
    }
    order_question(&f, probe_reply, 7);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 3000 + (uint64_t)-WEIR_EFULL, 1));
    CU_ASSERT_EQUAL(probe_count(f.asking), 2);
    gate_open(&f.answering->gate);
    finish(&f);
}

static int ask_the_dead(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct weir_message *question = probe_message(self, (struct order){ .id = 1 });
    int status = weir_request(self, probe_order(message)->argument, question, 1, answered, probe,
                              NULL);

    weir_message_free(self, question);
    probe_note(probe, 3000 + (uint64_t)-status);
    return WEIR_DONE;
}

/* promise S6 */
static void test_request_to_an_ended_pool_is_refused_at_once(void)
{
    struct fixture f;
    struct order order = { .act = ask_the_dead, .id = 1 };

    begin(&f, 1, 1);
    order.argument = f.answerers->pid;
    CU_ASSERT_TRUE(rig_end(&f.rig, f.answerers, NULL));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 3000 + (uint64_t)-WEIR_ETERMINATED, 1));
    f.answerers = rig_workers(&f.rig, f.answering, "answerers", 1, 1);
    finish(&f);
}

/* --- time ----------------------------------------------------------------------------------- */

/* promise S6: not a moment early. */
static void test_request_times_out_when_due_and_not_before(void)
{
    struct fixture f;

    begin(&f, 2, 4);
    order_question(&f, probe_wait, 1);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1)); /* the question is in hand */
    rig_advance(&f.rig, TIMEOUT_MS - 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .id = 77 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 77, 1));
    CU_ASSERT_EQUAL(probe_count(f.asking), 2);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED + (uint64_t)-WEIR_ETIMEOUT, 1));
    gate_open(&f.answering->gate);
    finish(&f);
}

static bool has_late_reply(void *context)
{
    return late_replies(context) == 1;
}

/* promise S6 */
static void test_reply_after_the_time_out_goes_nowhere(void)
{
    struct fixture f;

    begin(&f, 2, 4);
    order_question(&f, probe_wait, 1);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1));
    rig_advance(&f.rig, TIMEOUT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED + (uint64_t)-WEIR_ETIMEOUT, 1));
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_late_reply, &f));
    CU_ASSERT_EQUAL(probe_count(f.asking), 2);
    finish(&f);
}

static int let_time_pass(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    (void)gate_pass(&probe->gate);
    atomic_fetch_add(&f->rig.now_ns, (uint64_t)TIMEOUT_MS * 1000000u);
    (void)weir_now_ms(self); /* this thread has looked at the clock */
    weir_reason(self, "of this message");
    return WEIR_DONE;
}

/* A request whose requester gave up is not handled. */
static void test_request_that_waited_too_long_is_dead_expired(void)
{
    struct dead_letter letter;
    struct fixture f;

    begin(&f, 2, 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.answerers->pid, (struct order){ .act = let_time_pass }), 0);
    CU_ASSERT_TRUE(gate_await(&f.answering->gate, 1));
    order_question(&f, probe_reply, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 1, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.askers));
    gate_open(&f.answering->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.answerers));
    CU_ASSERT_EQUAL(rig_dead(f.answerers, DEAD_EXPIRED), 1);
    CU_ASSERT_EQUAL_FATAL(dead_letters_read(&f.answerers->dead, &letter, 1), 1);
    CU_ASSERT_STRING_EQUAL(letter.detail, ""); /* the reason of another message */
    CU_ASSERT_EQUAL(probe_times(f.answering, 501), 0);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED + (uint64_t)-WEIR_ETIMEOUT, 1));
    finish(&f);
}

/* --- cancel --------------------------------------------------------------------------------- */

static int ask_and_cancel(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *question = probe_message(self, (struct order){ .act = probe_reply });
    uint64_t reference = 0;

    (void)message;
    CU_ASSERT_EQUAL(
        weir_request(self, f->answerers->pid, question, TIMEOUT_MS, answered, probe, &reference),
        0);
    probe_note(probe, 4000 + (uint64_t)-weir_cancel(self, reference));
    probe_note(probe, 4000 + (uint64_t)-weir_cancel(self, reference));
    return WEIR_DONE;
}

/* promise S6: the continuation runs once, after the cancelling callback; the reply is late. */
static void test_cancelled_request_is_reported_so_after_the_callback(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.askers->pid, (struct order){ .act = ask_and_cancel, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_late_reply, &f));
    CU_ASSERT_EQUAL(probe_get(f.asking, 1), 4000);
    CU_ASSERT_EQUAL(probe_get(f.asking, 2), 4000 + (uint64_t)-WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(probe_get(f.asking, 3), ANSWERED + (uint64_t)-WEIR_ECANCELLED);
    CU_ASSERT_EQUAL(probe_count(f.asking), 4);
    finish(&f);
}

static void ask_again(struct weir_self *self, void *state, void *context,
                      const struct weir_reply *reply)
{
    struct probe *probe = context;
    struct fixture *f = probe->context;
    struct weir_message *question = probe_message(self, (struct order){ .act = probe_reply });

    answered(self, state, context, reply);
    CU_ASSERT_EQUAL(
        weir_request(self, f->answerers->pid, question, TIMEOUT_MS, answered, probe, NULL), 0);
}

static int ask_in_a_row(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *question = probe_message(self, (struct order){ .act = probe_reply });

    (void)message;
    CU_ASSERT_EQUAL(
        weir_request(self, f->answerers->pid, question, TIMEOUT_MS, ask_again, probe, NULL), 0);
    return WEIR_DONE;
}

static void test_continuation_may_ask_again(void)
{
    struct fixture f;

    begin(&f, 2, 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = ask_in_a_row }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED, 2));
    finish(&f);
}

/* --- forward -------------------------------------------------------------------------------- */

static int note_and_reply(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    probe_note(probe, message->from);
    return probe_reply(self, probe, message);
}

static int pass_on(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct pool *next = probe->context;
    struct order *order = message->data;

    order->act = note_and_reply;
    probe_note(probe, 600 + (uint64_t)-weir_forward(self, next->pid, message));
    return WEIR_DONE;
}

/* promises S7 and P1 */
static void test_forwarded_request_is_answered_by_the_last(void)
{
    struct fixture f;
    struct probe *last = probe_create();
    struct pool *pool;
    struct ledger_reading ledger;

    begin(&f, 2, 4);
    pool = rig_workers(&f.rig, last, "last", 2, 4);
    f.answering->context = pool;
    order_question(&f, pass_on, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED, 1));
    CU_ASSERT_EQUAL(probe_times(f.asking, 1501), 1);
    CU_ASSERT_EQUAL(probe_times(f.answering, 600), 1);
    CU_ASSERT_EQUAL(probe_times(last, rig_worker(f.askers, 0)), 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.answerers));
    CU_ASSERT_EQUAL(rig_ledger(f.answerers).done, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 1);
    finish(&f);
    probe_destroy(last);
}

static int pass_on_to_nobody(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    probe_note(probe, 600 + (uint64_t)-weir_forward(self, 0, message));
    return probe_reply(self, probe, message);
}

/* promise S7 */
static void test_refused_forward_leaves_the_message_in_hand(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    order_question(&f, pass_on_to_nobody, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, ANSWERED, 1));
    CU_ASSERT_EQUAL(probe_times(f.answering, 600 + (uint64_t)-WEIR_EUNKNOWN), 1);
    finish(&f);
}

/* --- in hand -------------------------------------------------------------------------------- */

static void settle_then(struct weir_self *self, void *state, void *context,
                        const struct weir_reply *reply)
{
    struct fixture *f = context;

    (void)state;
    probe_note(f->asking, 700 + (uint64_t)-reply->status);
    CU_ASSERT_EQUAL(weir_settle(self, f->kept, WEIR_DONE), 0);
}

static int keep_and_ask(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *question = probe_message(self, (struct order){ .act = probe_reply });

    f->kept = message;
    CU_ASSERT_EQUAL(
        weir_request(self, f->answerers->pid, question, TIMEOUT_MS, settle_then, f, NULL), 0);
    return WEIR_KEEP;
}

/* promise S6: a worker that may take no new message still gets its replies. */
static void test_reply_reaches_a_worker_that_is_at_in_hand(void)
{
    struct fixture f;

    begin(&f, 2, 4);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .act = keep_and_ask, .id = 1 }),
                    0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.askers->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.asking, 2, 1));
    CU_ASSERT_EQUAL(probe_get(f.asking, 1), 700);
    CU_ASSERT_EQUAL(probe_get(f.asking, 2), 2);
    finish(&f);
}

static int note_time_left(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    uint64_t left = weir_time_left(self, message);

    probe_note(probe, left == UINT64_MAX ? 799 : 800 + left);
    return WEIR_DONE;
}

/* promise S6 */
static void test_handler_sees_how_long_the_answer_is_wanted(void)
{
    struct fixture f;

    begin(&f, 2, 4);
    order_question(&f, note_time_left, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 800 + TIMEOUT_MS, 1));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.answerers->pid, (struct order){ .act = note_time_left, .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.answering, 799, 1));
    finish(&f);
}

/* A command that is stopped because its result is not wanted any more. */
static int reject_too_late(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    struct fixture *f = probe->context;

    rig_advance(&f->rig, TIMEOUT_LONG_MS + 1);
    (void)weir_now_ms(self);
    CU_ASSERT_FALSE(weir_is_wanted(self, message));
    return WEIR_REJECT;
}

static bool has_one_rejected(void *context)
{
    return rig_dead(context, DEAD_REJECTED) == 1;
}

/* The thread asks for the answer when the worker has settled the request. */
static void test_request_that_is_rejected_since_it_is_late_gets_timeout(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct request_options options = { .timeout_ms = TIMEOUT_LONG_MS };
    struct weir_message *message;
    struct fixture f;
    uint64_t reference;

    begin(&f, 1, 16);
    options.to = f.answerers->pid;
    message = runtime_message_new(f.rig.runtime, NULL, sizeof(struct order));
    if (!message)
        abort();
    *(struct order *)message->data = (struct order){ .act = reject_too_late, .id = 1 };
    CU_ASSERT_EQUAL(runtime_request(f.rig.runtime, &options, message, &reference), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_one_rejected, f.answerers));
    CU_ASSERT_EQUAL(runtime_await(f.rig.runtime, reference, &answer), WEIR_ERUNNING);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one thread", test_request_on_one_thread_gets_its_reply },
        { "two threads", test_request_on_two_threads_gets_its_reply },
        { "no reply", test_request_handled_without_reply_gets_noreply },
        { "rejected late", test_request_that_is_rejected_since_it_is_late_gets_timeout },
        { "rejected", test_rejected_request_gets_rejected },
        { "long reason", test_reason_longer_than_the_question_is_reported_whole },
        { "crashed", test_crashed_request_gets_crashed_with_the_reason },
        { "second reply", test_second_reply_is_not_allowed },
        { "no request", test_message_that_is_no_request_cannot_be_replied_to },
        { "full", test_request_to_a_full_pool_is_refused_at_once },
        { "ended", test_request_to_an_ended_pool_is_refused_at_once },
        { "time-out", test_request_times_out_when_due_and_not_before },
        { "late reply", test_reply_after_the_time_out_goes_nowhere },
        { "expired", test_request_that_waited_too_long_is_dead_expired },
        { "cancel", test_cancelled_request_is_reported_so_after_the_callback },
        { "asks again", test_continuation_may_ask_again },
        { "forward", test_forwarded_request_is_answered_by_the_last },
        { "refused forward", test_refused_forward_leaves_the_message_in_hand },
        { "in hand", test_reply_reaches_a_worker_that_is_at_in_hand },
        { "time left", test_handler_sees_how_long_the_answer_is_wanted },
        CU_TEST_INFO_NULL,
    };

    return suite_run("request", tests);
}
