/* SPDX-License-Identifier: MIT */
/*
 * Goal: a request from an outside thread gets exactly one answer: the reply, or the status why
 * there is none; impossible requests fail at once, and no time-out is early.
 *
 * Method: workers that reply, reject, fail, forget and wait at a gate; many threads that send
 * requests at the same time and compare the answers with their requests.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define ASKERS 4u
#define QUESTIONS 200u

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int ask(struct hand *hand, weir_pid to, struct hand_order order, uint64_t timeout_ms,
               struct weir_answer *out)
{
    *out = (struct weir_answer)WEIR_ANSWER;
    return weir_runtime_ask(hand->runtime, to, hand_message(hand, order), timeout_ms, out);
}

/* promise E8 */
static void test_reply_comes_to_the_one_who_asked(void)
{
    struct weir_answer answer;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 1);
    CU_ASSERT_EQUAL(ask(&hand, pid, (struct hand_order){ hand_reply, 5 }, wait_limit_ms(), &answer),
                    0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer.message);
    CU_ASSERT_EQUAL(((const struct hand_order *)answer.message->data)->id, 1005);
    CU_ASSERT_EQUAL(answer.message->kind, WEIR_MESSAGE);
    weir_runtime_message_free(hand.runtime, answer.message);
    hand_finish(&hand);
}

/* promise E8 */
static void test_failure_is_reported_with_its_reason(void)
{
    static const struct {
        hand_act *act;
        int status;
        const char *detail;
    } cases[] = {
        { hand_reject, WEIR_EREJECTED, "no such thing" },
        { hand_fail, WEIR_ECRASHED, "broken" },
        { NULL, WEIR_ENOREPLY, "" },
    };
    struct weir_answer answer;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 0);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(
            ask(&hand, pid, (struct hand_order){ cases[i].act, 1 }, wait_limit_ms(), &answer),
            cases[i].status);
        CU_ASSERT_STRING_EQUAL(answer.detail, cases[i].detail);
        CU_ASSERT_PTR_NULL(answer.message);
    }
    CU_ASSERT_EQUAL(ask(&hand, 12345, (struct hand_order){ 0 }, wait_limit_ms(), &answer),
                    WEIR_EUNKNOWN);
    hand_finish(&hand);
}

/* promise E8: the pool is full for as long as the test wants; a wait would never end. */
static void test_full_pool_is_answered_at_once(void)
{
    struct weir_answer answer;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 1);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(ask(&hand, pid, (struct hand_order){ hand_reply, 5 }, UINT64_MAX, &answer),
                    WEIR_EFULL);
    gate_open(&hand.gate);
    hand_finish(&hand);
}

/* promise E8: never early; and an abandoned request is dead `expired`, not handled. */
static void test_time_out_is_not_early_and_the_request_expires(void)
{
    struct weir_answer answer;
    struct weir_ledger ledger;
    struct hand hand;
    weir_pid pid;
    uint64_t before;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    /* A turn looks at the clock after its second message. */
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    before = now_ns();
    CU_ASSERT_EQUAL(ask(&hand, pid, (struct hand_order){ hand_reply, 5 }, 20, &answer),
                    WEIR_ETIMEOUT);
    CU_ASSERT_TRUE(now_ns() - before >= 20000000u);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    ledger = hand_ledger(&hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.dead, 1);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 2);
    hand_finish(&hand);
}

static int wait_and_reply(struct weir_self *self, struct hand *hand,
                          const struct weir_message *message)
{
    (void)gate_pass(&hand->gate);
    return hand_reply(self, hand, message);
}

/* promise E8: many open at a time, fetched in any order; one given up. */
static void test_answers_are_fetched_in_any_order(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t references[20];
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 2, 0);
    for (uint64_t i = 0; i < 20; i++)
        CU_ASSERT_EQUAL(
            weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                                 hand_message(&hand, (struct hand_order){ wait_and_reply, i }),
                                 UINT64_MAX, &references[i]),
            0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(hand.runtime, references[7]), 0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(hand.runtime, references[7]), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, references[7], &answer), WEIR_EUNKNOWN);
    gate_open(&hand.gate);
    for (uint64_t i = 20; i-- > 0;) {
        if (i == 7)
            continue;
        CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, references[i], &answer), 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(answer.message);
        CU_ASSERT_EQUAL(((const struct hand_order *)answer.message->data)->id, 1000 + i);
        weir_runtime_message_free(hand.runtime, answer.message);
    }
    hand_finish(&hand);
}

/* promise E8: the next requester uses the place in the table, and does not get the late reply,
 * which has an owner: the sanitizers see that it is freed. */
static void test_reply_to_one_who_gave_up_is_refused(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct hand hand;
    uint64_t reference;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 0);
    CU_ASSERT_EQUAL(
        weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                             hand_message(&hand, (struct hand_order){ wait_and_reply, 1 }),
                             UINT64_MAX, &reference),
        0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_cancel(hand.runtime, reference), WEIR_ERUNNING);
    CU_ASSERT_EQUAL(weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                                         hand_message(&hand, (struct hand_order){ hand_wait, 2 }),
                                         UINT64_MAX, &reference),
                    0);
    gate_admit(&hand.gate, 1);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2));
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), WEIR_ECANCELLED);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &answer), WEIR_ENOREPLY);
    hand_finish(&hand);
}

/* An answer that is never fetched is freed with the runtime. */
static void test_answer_that_nobody_fetches_is_freed(void)
{
    struct hand hand;
    uint64_t reference;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 0);
    CU_ASSERT_EQUAL(weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                                         hand_message(&hand, (struct hand_order){ hand_reply, 1 }),
                                         1, &reference),
                    0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), 0);
    hand_finish(&hand);
}

/* --- a call for the answer ------------------------------------------------------------------- */

static void count_call(void *context)
{
    atomic_fetch_add((_Atomic uint32_t *)context, 1);
}

static uint64_t request(struct hand *hand, weir_pid pid, hand_act *act)
{
    uint64_t reference = 0;

    CU_ASSERT_EQUAL(weir_runtime_request(hand->runtime, pid, WEIR_NORMAL,
                                         hand_message(hand, (struct hand_order){ act, 1 }),
                                         UINT64_MAX, &reference),
                    0);
    return reference;
}

static int reject_behind_the_gate(struct weir_self *self, struct hand *hand,
                                  const struct weir_message *message)
{
    (void)gate_pass(&hand->gate);
    return hand_reject(self, hand, message);
}

/* promise E16: each way to answer, asked for before and after the answer. */
static void test_call_comes_with_the_answer(void)
{
    static hand_act *const acts[] = { wait_and_reply, reject_behind_the_gate, hand_wait };
    static const int statuses[] = { 0, WEIR_EREJECTED, WEIR_ENOREPLY };

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct weir_answer answer = WEIR_ANSWER;
        _Atomic uint32_t before = 0, replaced = 0, after = 0;
        uint64_t first, second;
        struct hand hand;
        weir_pid pid;

        hand_begin(&hand, 1);
        pid = hand_pool(&hand, "pool", 1, 4);
        first = request(&hand, pid, acts[i]);
        second = request(&hand, pid, acts[i]);
        CU_ASSERT_EQUAL(weir_runtime_on_answer(hand.runtime, first, count_call, &replaced), 0);
        CU_ASSERT_EQUAL(weir_runtime_on_answer(hand.runtime, first, count_call, &before), 0);
        CU_ASSERT_EQUAL(atomic_load(&before), 0);
        gate_open(&hand.gate);
        CU_ASSERT_EQUAL(weir_runtime_wait_idle(hand.runtime, pid, wait_limit_ms()), 0);
        CU_ASSERT_EQUAL(atomic_load(&before), 1);
        CU_ASSERT_EQUAL(atomic_load(&replaced), 0);
        CU_ASSERT_EQUAL(weir_runtime_on_answer(hand.runtime, second, count_call, &after), 0);
        CU_ASSERT_EQUAL(atomic_load(&after), 1);
        CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, first, &answer), statuses[i]);
        weir_runtime_message_free(hand.runtime, answer.message);
        CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, second, &answer), statuses[i]);
        weir_runtime_message_free(hand.runtime, answer.message);
        CU_ASSERT_EQUAL(weir_runtime_on_answer(hand.runtime, first, count_call, &after),
                        WEIR_EUNKNOWN);
        CU_ASSERT_EQUAL(atomic_load(&after), 1);
        hand_finish(&hand);
    }
}

/* promise E16: cancelled, and answered late. */
static void test_no_call_for_what_was_cancelled(void)
{
    _Atomic uint32_t calls = 0;
    uint64_t reference;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    reference = request(&hand, pid, wait_and_reply);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_on_answer(hand.runtime, reference, count_call, &calls), 0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(hand.runtime, reference), WEIR_ERUNNING);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(hand.runtime, pid, wait_limit_ms()), 0);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&calls), 0);
}

/* --- many at a time ------------------------------------------------------------------------- */

struct asker {
    struct hand *hand;
    weir_pid to;
    uint64_t first;
    uint32_t right;
};

static void *ask_many(void *context)
{
    struct asker *asker = context;

    for (uint64_t i = 0; i < QUESTIONS; i++) {
        struct weir_answer answer;
        const struct hand_order order = { hand_reply, asker->first + i };

        if (ask(asker->hand, asker->to, order, UINT64_MAX, &answer) != 0)
            continue;
        asker->right += ((const struct hand_order *)answer.message->data)->id ==
                        asker->first + i + 1000;
        weir_runtime_message_free(asker->hand->runtime, answer.message);
    }
    return NULL;
}

/* promise E8 */
static void test_many_threads_get_each_their_own_answers(void)
{
    struct asker askers[ASKERS];
    pthread_t threads[ASKERS];
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 3, 0);
    for (uint32_t i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){ .hand = &hand, .to = pid, .first = i * 10000u };
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, ask_many, &askers[i]), 0);
    }
    for (uint32_t i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(askers[i].right, QUESTIONS);
    }
    hand_finish(&hand);
}

/* promise A9 */
static void test_actor_is_inspected_from_outside(void)
{
    static const char *const items[] = { "kind", "in_hand", NULL };
    struct weir_answer answer = WEIR_ANSWER;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 2, 1);
    CU_ASSERT_EQUAL(weir_runtime_inspect(hand.runtime, pid, items, wait_limit_ms(), &answer), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(answer.message);
    CU_ASSERT_STRING_EQUAL(weir_inspected(answer.message, "kind"), "pool");
    CU_ASSERT_STRING_EQUAL(weir_inspected(answer.message, "in_hand"), "0");
    CU_ASSERT_PTR_NULL(weir_inspected(answer.message, "queued"));
    weir_runtime_message_free(hand.runtime, answer.message);
    CU_ASSERT_EQUAL(weir_runtime_inspect(hand.runtime, 0, NULL, 1, &answer), WEIR_EUNKNOWN);
    CU_ASSERT_PTR_NULL(answer.message);
    hand_finish(&hand);
}

static int inspect_and_note(struct weir_self *self, struct hand *hand,
                            const struct weir_message *message)
{
    struct weir_answer answer = WEIR_ANSWER;

    (void)message;
    atomic_store(&hand->noted,
                 weir_runtime_inspect(hand->runtime, weir_pid_of(self), NULL, 1000, &answer));
    return WEIR_DONE;
}

/* promise E6 */
static void test_inspecting_on_an_own_thread_is_a_deadlock(void)
{
    struct hand hand;

    hand_begin(&hand, 1);
    CU_ASSERT_EQUAL(hand_send(&hand, hand_pool(&hand, "pool", 1, 1),
                              (struct hand_order){ inspect_and_note, 1 }),
                    0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), WEIR_EDEADLK);
    hand_finish(&hand);
}

/* promise S13 */
static void test_cancelled_request_from_outside_never_begins(void)
{
    struct hand hand;
    uint64_t reference;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                                         hand_message(&hand, (struct hand_order){ hand_reply, 5 }),
                                         UINT64_MAX, &reference),
                    0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(hand.runtime, reference), 0);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2)); /* after the request */
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).dead_by[WEIR_DEAD_CANCELLED], 1);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 2);
    hand_finish(&hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reply", test_reply_comes_to_the_one_who_asked },
        { "failure", test_failure_is_reported_with_its_reason },
        { "full", test_full_pool_is_answered_at_once },
        { "time-out", test_time_out_is_not_early_and_the_request_expires },
        { "any order", test_answers_are_fetched_in_any_order },
        { "gave up", test_reply_to_one_who_gave_up_is_refused },
        { "not fetched", test_answer_that_nobody_fetches_is_freed },
        { "many", test_many_threads_get_each_their_own_answers },
        { "call", test_call_comes_with_the_answer },
        { "call and cancel", test_no_call_for_what_was_cancelled },
        { "inspect", test_actor_is_inspected_from_outside },
        { "inspect inside", test_inspecting_on_an_own_thread_is_a_deadlock },
        { "cancelled", test_cancelled_request_from_outside_never_begins },
        CU_TEST_INFO_NULL,
    };

    return suite_run("asking", tests);
}
