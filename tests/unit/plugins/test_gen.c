/* SPDX-License-Identifier: MIT */
/*
 * Goal: gen.numbers sends each number once, for any credit and any refusals, and so does
 * gen.forever, without an end.
 * Method: the kit gives credit and refuses at a chosen moment.
 */
#include <weir/testkit.h>

#include "../../../plugins/gen/gen.h"
#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

static struct weir_kit *start(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "numbers");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static void expect_numbers(struct weir_kit *kit, uint64_t first, size_t count)
{
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), count);
    for (size_t i = 0; i < count; i++) {
        const struct gen_number *number = gen_number_get(weir_kit_sent(kit, i)->message);

        CU_ASSERT_PTR_NOT_NULL_FATAL(number);
        CU_ASSERT_EQUAL(number->number, first + i);
    }
}

static void test_count_is_sent_and_no_more(void)
{
    struct weir_kit *kit = start("count: 10\nfirst: 5");

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 4), WEIR_MORE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 4);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 6), WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 6), WEIR_END);
    expect_numbers(kit, 5, 10);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 10);
    CU_ASSERT_EQUAL(weir_kit_total(kit, "messages"), 10);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_forever_has_no_end(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "forever");

    CU_ASSERT_STRING_EQUAL(weir_plugin_v1.behaviours[1].name, "forever");
    CU_ASSERT(weir_plugin_v1.behaviours[1].flags & WEIR_ENDLESS);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "first: 7"), 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 250), WEIR_MORE);
    expect_numbers(kit, 7, 250);
    CU_ASSERT_EQUAL(weir_kit_total(kit, "messages"), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_refused_number_is_sent_later(void)
{
    struct weir_kit *kit = start("count: 10");

    weir_kit_limit(kit, 3, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_MORE);
    weir_kit_limit(kit, UINT32_MAX, 0);
    weir_kit_fail_allocation(kit, 4);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 10), WEIR_END);
    expect_numbers(kit, 0, 10);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_keys_are_there_when_wanted(void)
{
    struct weir_kit *kit = start("count: 2\nkey: true");

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 2), WEIR_END);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 2);
    CU_ASSERT_NOT_EQUAL(weir_kit_sent(kit, 0)->message->key, 0);
    CU_ASSERT_NOT_EQUAL(weir_kit_sent(kit, 0)->message->key, weir_kit_sent(kit, 1)->message->key);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_range_past_the_largest_number_is_refused(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "numbers");

    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "{count: 2, first: 18446744073709551615}"));
    CU_ASSERT_PTR_NOT_NULL(weir_kit_settings(kit, "{count: 1, first: 18446744073709551615}"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_count_is_required_and_not_zero(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "numbers");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, ""), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "args:1:1: count: is required\n");
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "count: 0"), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* Ten of 20 from 5 on, then another source with these args. */
static struct weir_kit *go_on(struct weir_kit *before, const char *args)
{
    struct weir_kit *kit = start(args);
    const void *left;
    size_t size;

    CU_ASSERT_EQUAL(weir_kit_produce(before, 10), WEIR_MORE);
    weir_kit_close(before, WEIR_END_SHUTDOWN);
    left = weir_kit_left(before, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(left);
    weir_kit_resume(kit, left, size);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 100), WEIR_END);
    return kit;
}

static void test_one_that_takes_over_goes_on_with_the_next_number(void)
{
    static const struct {
        const char *args;
        uint64_t from;
        size_t emitted;
    } rows[] = { { "count: 30\nfirst: 5", 15, 20 },
                 { "count: 30\nfirst: 0", 15, 15 },
                 { "count: 4\nfirst: 5", 0, 0 },
                 { "count: 3\nfirst: 100", 100, 3 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_kit *before = start("count: 20\nfirst: 5");
        struct weir_kit *kit = go_on(before, rows[i].args);

        expect_numbers(kit, rows[i].from, rows[i].emitted);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
        CU_ASSERT_EQUAL(weir_kit_destroy(before), 0);
    }
}

static void test_inspect_reports_the_next_number(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "numbers");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "count: 5\nfirst: 100"), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "next=100\nfinished=0\n");
    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 2), WEIR_END);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "next=105\nfinished=1\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "count is sent and no more", test_count_is_sent_and_no_more },
        { "forever has no end", test_forever_has_no_end },
        { "refused number is sent later", test_refused_number_is_sent_later },
        { "keys are there when wanted", test_keys_are_there_when_wanted },
        { "range past the largest number is refused",
          test_range_past_the_largest_number_is_refused },
        { "count is required and not zero", test_count_is_required_and_not_zero },
        { "takes over", test_one_that_takes_over_goes_on_with_the_next_number },
        { "inspect", test_inspect_reports_the_next_number },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin gen", tests);
}
