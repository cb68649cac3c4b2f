/* SPDX-License-Identifier: MIT */
/*
 * Goal: a message is kept until the answer to its request arrives, and is settled once, whatever
 * the answer is; a request without room is sent again; a wrong request gets a negative reply.
 * Method: <weir/testkit.h> stands in for the host; the test answers the requests.
 */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include <weir/messages/gen.h>
#include <weir/testkit.h>

#include "factor.h"

extern const struct weir_plugin weir_plugin_v1;

#define DIVIDE 77u

static const struct factor_answer of_twelve = { .count = 3, .primes = { 2, 2, 3 } };

static struct weir_kit *open_ask(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "ask");

    weir_kit_name(kit, "divide", DIVIDE);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "of: divide\ntimeout: 5s"), 0);
    return kit;
}

static int give_number(struct weir_kit *kit, uint64_t number)
{
    return weir_kit_handle(kit, GEN_NUMBER_TAG, &number, sizeof number);
}

static void test_answer_settles_question(void)
{
    struct weir_kit *kit = open_ask();

    CU_ASSERT_EQUAL(give_number(kit, 12), WEIR_KEEP);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->to, DIVIDE);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, weir_kit_sent(kit, 0)->reference, 0, FACTOR_ANSWER_TAG,
                                    &of_twelve, sizeof of_twelve),
                    0);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "12: 2 2 3\n");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_late_answer_rejects_question(void)
{
    struct weir_kit *kit = open_ask();

    CU_ASSERT_EQUAL(give_number(kit, 12), WEIR_KEEP);
    weir_kit_advance(kit, 4999);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_advance(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* The message is kept meanwhile, and never given up for lack of room. */
static void test_full_pool_is_asked_again(void)
{
    struct weir_kit *kit = open_ask();

    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(give_number(kit, 12), WEIR_KEEP);
    weir_kit_advance(kit, 10000);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    weir_kit_limit(kit, 1, WEIR_EFULL);
    weir_kit_advance(kit, 20);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_answer(kit, weir_kit_sent(kit, 0)->reference, 0, FACTOR_ANSWER_TAG,
                                    &of_twelve, sizeof of_twelve),
                    0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_closed_pool_rejects_question(void)
{
    struct weir_kit *kit = open_ask();

    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(give_number(kit, 12), WEIR_KEEP);
    weir_kit_limit(kit, 0, WEIR_ECLOSED);
    CU_ASSERT_EQUAL(give_number(kit, 13), WEIR_REJECT);
    weir_kit_advance(kit, 20);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_no_memory_is_asked_again(void)
{
    for (uint32_t nth = 1; nth <= 2; nth++) {
        struct weir_kit *kit = open_ask();

        weir_kit_fail_allocation(kit, nth);
        CU_ASSERT_EQUAL(give_number(kit, 12), WEIR_KEEP);
        weir_kit_advance(kit, 20);
        CU_ASSERT_EQUAL(weir_kit_answer(kit, weir_kit_sent(kit, 0)->reference, 0, FACTOR_ANSWER_TAG,
                                        &of_twelve, sizeof of_twelve),
                        0);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

static void expect_primes(uint64_t number, uint32_t count, uint64_t last)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "divide");
    const struct factor_answer *answer;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_request(kit, FACTOR_QUESTION_TAG, &number, sizeof number), WEIR_DONE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_replied(kit, 0));
    answer = weir_kit_replied(kit, 0)->data;
    CU_ASSERT_EQUAL(answer->count, count);
    CU_ASSERT_TRUE(count == 0 || answer->primes[count - 1] == last);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_number_has_its_primes(void)
{
    expect_primes(1, 0, 0);
    expect_primes(2, 1, 2);
    expect_primes(49, 2, 7);
    expect_primes(1u << 31, 31, 2);
    expect_primes(UINT64_C(1) << 63, 63, 2);
}

static void test_zero_is_rejected(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "divide");
    uint64_t number = 0;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_request(kit, FACTOR_QUESTION_TAG, &number, sizeof number),
                    WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "every number divides 0");
    CU_ASSERT_PTR_NULL(weir_kit_replied(kit, 0));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "answer_settles_question", test_answer_settles_question },
        { "late_answer_rejects_question", test_late_answer_rejects_question },
        { "full_pool_is_asked_again", test_full_pool_is_asked_again },
        { "closed_pool_rejects_question", test_closed_pool_rejects_question },
        { "no_memory_is_asked_again", test_no_memory_is_asked_again },
        { "number_has_its_primes", test_number_has_its_primes },
        { "zero_is_rejected", test_zero_is_rejected },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "factor", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
