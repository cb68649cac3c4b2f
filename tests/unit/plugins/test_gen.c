/*
 * Goal: gen.numbers sends each number once, whatever credit it gets and whatever is refused, and
 * gen.forever likewise, without an end.
 * Method: a fake host that gives credit and refuses at a chosen moment.
 */
#include "../../../plugins/gen/gen.h"
#include "../host/suite.h"
#include "fake_host.h"

static struct fake_host *start(const char *count, const char *first)
{
    struct fake_host *fake = fake_start("numbers");

    fake_set(fake, "count", count);
    if (first)
        fake_set(fake, "first", first);
    return fake;
}

static void expect_numbers(struct fake_host *fake, uint64_t first, size_t count)
{
    CU_ASSERT_EQUAL_FATAL(fake->emit_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct gen_number *number = gen_number_get(fake->emits[i].message);

        CU_ASSERT_PTR_NOT_NULL_FATAL(number);
        CU_ASSERT_EQUAL(number->number, first + i);
    }
}

static void test_count_is_sent_and_no_more(void)
{
    struct fake_host *fake = start("10", "5");

    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce(fake, 4), WEIR_MORE);
    CU_ASSERT_EQUAL(fake->emit_count, 4);
    CU_ASSERT_EQUAL(fake_produce(fake, 6), WEIR_END);
    CU_ASSERT_EQUAL(fake_produce(fake, 6), WEIR_END);
    expect_numbers(fake, 5, 10);
    CU_ASSERT_EQUAL(fake_progress(fake, "messages").done, 10);
    CU_ASSERT_EQUAL(fake_progress(fake, "messages").total, 10);
    fake_finish(fake);
}

static void test_forever_has_no_end(void)
{
    struct fake_host *fake = fake_start("forever");

    CU_ASSERT(fake->behaviour->flags & WEIR_ENDLESS);
    fake_set(fake, "first", "7");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce(fake, 1000), WEIR_MORE);
    expect_numbers(fake, 7, 1000);
    CU_ASSERT_EQUAL(fake_progress(fake, "messages").total, 0);
    fake_finish(fake);
}

static void test_refused_number_is_sent_later(void)
{
    struct fake_host *fake = start("10", NULL);

    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    fake->emit_room = 3;
    CU_ASSERT_EQUAL(fake_produce(fake, 10), WEIR_MORE);
    fake->emit_room = 100;
    fake->message_room = 3;
    CU_ASSERT_EQUAL(fake_produce(fake, 10), WEIR_WAIT);
    CU_ASSERT_EQUAL(fake->timers, 1);
    fake->message_room = 100;
    CU_ASSERT_EQUAL(fake_produce(fake, 10), WEIR_END);
    expect_numbers(fake, 0, 10);
    fake_finish(fake);
}

static void test_keys_are_there_when_wanted(void)
{
    struct fake_host *fake = start("2", NULL);

    fake_set(fake, "key", "true");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_produce(fake, 2), WEIR_END);
    CU_ASSERT_EQUAL_FATAL(fake->emit_count, 2);
    CU_ASSERT_NOT_EQUAL(fake->emits[0].message->key, 0);
    CU_ASSERT_NOT_EQUAL(fake->emits[0].message->key, fake->emits[1].message->key);
    fake_finish(fake);
}

static void test_range_past_the_largest_number_is_refused(void)
{
    struct fake_host *fake = start("2", "18446744073709551615");

    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    fake_finish(fake);
    fake = start("1", "18446744073709551615");
    CU_ASSERT_EQUAL(fake_open(fake), 0);
    fake_finish(fake);
}

static void test_count_is_required_and_not_zero(void)
{
    struct fake_host *fake = fake_start("numbers");

    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    fake_set(fake, "count", "0");
    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    fake_finish(fake);
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
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin gen", tests);
}
