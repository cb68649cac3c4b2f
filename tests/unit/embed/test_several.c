/* SPDX-License-Identifier: MIT */
/*
 * Goal: a thread awaits the first, or all, of several references; each answer is fetched once, and
 * a request may wait for room.
 *
 * Method: two workers at gates of their own order; requests that are answered, time out, are
 * cancelled, and are awaited by another thread.
 */
#include <pthread.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define MANY 500u

static uint64_t request(struct hand *hand, weir_pid pid, struct hand_order order,
                        uint64_t timeout_ms)
{
    uint64_t reference = 0;

    CU_ASSERT_EQUAL(weir_runtime_request(hand->runtime, pid, WEIR_NORMAL, hand_message(hand, order),
                                         timeout_ms, &reference),
                    0);
    return reference;
}

static uint64_t id_of(struct hand *hand, struct weir_answer *answer)
{
    uint64_t id = 0;

    CU_ASSERT_PTR_NOT_NULL(answer->message);
    if (answer->message)
        id = ((const struct hand_order *)answer->message->data)->id;
    weir_runtime_message_free(hand->runtime, answer->message);
    return id;
}

static int wait_and_reply(struct weir_self *self, struct hand *hand,
                          const struct weir_message *message)
{
    (void)gate_pass(&hand->gate);
    return hand_reply(self, hand, message);
}

/* promise E14: the first is at the gate, the third is answered. */
static void test_first_answer_is_fetched(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t references[3];
    uint32_t index = 99;
    struct hand hand;
    weir_pid slow, quick;

    hand_begin(&hand, 2);
    slow = hand_pool(&hand, "slow", 1, 4);
    quick = hand_pool(&hand, "quick", 1, 4);
    references[0] = request(&hand, slow, (struct hand_order){ wait_and_reply, 1 }, WEIR_FOR_EVER);
    references[1] = request(&hand, slow, (struct hand_order){ hand_reply, 2 }, WEIR_FOR_EVER);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_await_any(hand.runtime, references, 2, 1, &index, &answer),
                    WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(index, 2);
    references[2] = request(&hand, quick, (struct hand_order){ hand_reply, 3 }, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(
        weir_runtime_await_any(hand.runtime, references, 3, wait_limit_ms(), &index, &answer), 0);
    CU_ASSERT_EQUAL(index, 2);
    CU_ASSERT_EQUAL(id_of(&hand, &answer), 1003);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(
        weir_runtime_await_any(hand.runtime, references, 3, wait_limit_ms(), &index, &answer), 0);
    CU_ASSERT_EQUAL(id_of(&hand, &answer), 1001 + index);
    references[index] = 0; /* skipped, as the third, which is not open any more */
    CU_ASSERT_EQUAL(
        weir_runtime_await_any(hand.runtime, references, 3, wait_limit_ms(), &index, &answer), 0);
    CU_ASSERT_EQUAL(id_of(&hand, &answer), 1001 + index);
    CU_ASSERT_EQUAL(
        weir_runtime_await_any(hand.runtime, references, 3, wait_limit_ms(), &index, &answer),
        WEIR_EUNKNOWN);
    hand_finish(&hand);
}

/* promise E14: the time-out of one reference ends the wait, too. */
static void test_reference_that_is_over_is_the_first(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t references[2];
    uint32_t index = 99;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    references[0] = request(&hand, pid, (struct hand_order){ wait_and_reply, 1 }, WEIR_FOR_EVER);
    references[1] = request(&hand, pid, (struct hand_order){ hand_reply, 2 }, 1);
    CU_ASSERT_EQUAL(
        weir_runtime_await_any(hand.runtime, references, 2, WEIR_FOR_EVER, &index, &answer),
        WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(index, 1);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, references[0], &answer), 0);
    CU_ASSERT_EQUAL(id_of(&hand, &answer), 1001);
    answer.size = 1;
    CU_ASSERT_EQUAL(weir_runtime_await_any(hand.runtime, references, 2, 1, &index, &answer),
                    WEIR_EINVALID);
    hand_finish(&hand);
}

struct fetcher {
    struct hand *hand;
    const uint64_t *references;
    _Atomic uint64_t *sum; /* of the ids */
    _Atomic uint32_t *fetched;
};

static void *fetch_until_none(void *context)
{
    struct fetcher *fetcher = context;
    struct weir_answer answer = WEIR_ANSWER;
    uint32_t index;
    int status;

    while ((status = weir_runtime_await_any(fetcher->hand->runtime, fetcher->references, MANY, 1,
                                            &index, &answer)) == 0) {
        atomic_fetch_add(fetcher->sum, id_of(fetcher->hand, &answer));
        atomic_fetch_add(fetcher->fetched, 1);
    }
    return NULL;
}

/* promise E14: one thread waits for each reference; a second finds the others. */
static void test_two_threads_fetch_each_answer_once(void)
{
    static uint64_t references[MANY];
    _Atomic uint64_t sum = 0;
    _Atomic uint32_t fetched = 0;
    struct hand hand;
    struct fetcher fetcher = { &hand, references, &sum, &fetched };
    pthread_t thread;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 2, 0);
    for (uint32_t i = 0; i < MANY; i++)
        references[i] = request(&hand, pid, (struct hand_order){ hand_reply, i }, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fetch_until_none, &fetcher), 0);
    while (atomic_load(&fetched) < MANY)
        (void)fetch_until_none(&fetcher);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&fetched), MANY);
    CU_ASSERT_EQUAL(atomic_load(&sum), MANY * 1000ull + (uint64_t)MANY * (MANY - 1) / 2);
    hand_finish(&hand);
}

/* promise E14 */
static void test_all_answers_are_fetched(void)
{
    static hand_act *const acts[] = { hand_reply, hand_reject, hand_reply };
    struct weir_answer answers[3] = { WEIR_ANSWER, WEIR_ANSWER, WEIR_ANSWER };
    uint64_t references[3];
    int statuses[3];
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 0);
    for (uint32_t i = 0; i < 3; i++)
        references[i] = request(&hand, pid, (struct hand_order){ acts[i], i }, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(weir_runtime_await_all(hand.runtime, references, 3, answers, statuses),
                    WEIR_EREJECTED);
    CU_ASSERT_EQUAL(statuses[0], 0);
    CU_ASSERT_EQUAL(statuses[1], WEIR_EREJECTED);
    CU_ASSERT_EQUAL(statuses[2], 0);
    CU_ASSERT_EQUAL(id_of(&hand, &answers[0]), 1000);
    CU_ASSERT_EQUAL(id_of(&hand, &answers[2]), 1002);
    hand_finish(&hand);
}

struct asker {
    struct hand *hand;
    weir_pid pid;
    int status;
};

static void *ask_and_wait(void *context)
{
    struct asker *asker = context;
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference = 0;
    struct weir_message *message = hand_message(asker->hand, (struct hand_order){ hand_reply, 5 });

    asker->status = weir_runtime_request_wait(asker->hand->runtime, asker->pid, message,
                                              wait_limit_ms(), &reference);
    if (asker->status == 0)
        asker->status = weir_runtime_await(asker->hand->runtime, reference, &answer);
    if (asker->status == 0)
        asker->status = id_of(asker->hand, &answer) == 1005 ? 0 : 1;
    return NULL;
}

/* promise E14: a request waits for room, up to its time-out. */
static void test_request_waits_for_room(void)
{
    struct asker asker = { 0 };
    uint64_t reference = 0;
    struct hand hand;
    struct weir_message *message;
    pthread_t thread;

    hand_begin(&hand, 1);
    asker = (struct asker){ &hand, hand_pool(&hand, "pool", 1, 1), 1 };
    CU_ASSERT_EQUAL(hand_send(&hand, asker.pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(hand_send(&hand, asker.pid, (struct hand_order){ .id = 1 }), 0);
    message = hand_message(&hand, (struct hand_order){ hand_reply, 5 });
    CU_ASSERT_EQUAL(weir_runtime_request_wait(hand.runtime, asker.pid, message, 1, &reference),
                    WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(message->kind, WEIR_MESSAGE);
    weir_runtime_message_free(hand.runtime, message);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, ask_and_wait, &asker), 0);
    gate_open(&hand.gate);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(asker.status, 0);
    hand_finish(&hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "first", test_first_answer_is_fetched },
        { "over", test_reference_that_is_over_is_the_first },
        { "two threads", test_two_threads_fetch_each_answer_once },
        { "all", test_all_answers_are_fetched },
        { "room", test_request_waits_for_room },
        CU_TEST_INFO_NULL,
    };

    return suite_run("several", tests);
}
