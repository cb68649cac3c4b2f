/* SPDX-License-Identifier: MIT */
/*
 * Goal: the guide's statements about positions, keys, the stash, timers, options, events and blobs
 * hold. Method: the test kit in place of a host; `weir run` tests `archive`, which has a thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include <weir/testkit.h>

#include "station.h"

extern const struct weir_plugin weir_plugin_v1;

static struct weir_kit *open_kit(const char *behaviour, const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static int give(struct weir_kit *kit, uint64_t number, uint32_t value)
{
    const struct station_reading reading = { .number = number, .value = value };

    return weir_kit_handle(kit, STATION_READING_TAG, &reading, sizeof reading);
}

static int give_alarm(struct weir_kit *kit)
{
    struct station_reading reading = { .value = 99 };
    const struct weir_message like = {
        .data = &reading,
        .size = sizeof reading,
        .tag = weir_kit_tag(kit, STATION_READING_TAG),
        .kind = WEIR_EVENT,
    };

    return weir_kit_deliver(kit, &like);
}

static void test_next_source_goes_on(void)
{
    struct weir_kit *first = open_kit("readings", "count: 9");
    struct weir_kit *second = open_kit("readings", "count: 12");
    const struct station_reading *reading;
    const void *position;
    size_t size;

    CU_ASSERT_EQUAL(weir_kit_produce(first, 4), WEIR_MORE);
    weir_kit_close(first, WEIR_END_REPLACED);
    position = weir_kit_left(first, &size);
    weir_kit_resume(second, position, size);
    CU_ASSERT_EQUAL(weir_kit_produce(second, 1), WEIR_MORE);
    reading = weir_kit_emitted(second, 0, 0)->data;
    CU_ASSERT_EQUAL(reading->number, 4);
    CU_ASSERT_EQUAL(weir_kit_destroy(first), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
}

static void write_journal(const char *path, const char *mode, const char *text)
{
    FILE *stream = fopen(path, mode);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    (void)fputs(text, stream);
    (void)fclose(stream);
}

/* Runs the journal, settles what it sends, and compares the sum of the values. */
static void expect_sum(const char *args, uint32_t wanted)
{
    struct weir_kit *kit = open_kit("journal", args);
    uint32_t sum = 0;

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 9), WEIR_WAIT);
    for (size_t i = 0; i < weir_kit_sent_count(kit); i++) {
        const struct station_reading *reading = weir_kit_emitted(kit, 0, i)->data;
        const struct weir_outcome outcome = { .token = i, .result = WEIR_OUTCOME_DONE };

        sum += reading->value;
        CU_ASSERT_EQUAL(weir_kit_tell(kit, &outcome), 0);
    }
    CU_ASSERT_EQUAL(sum, wanted);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_journal_goes_on_in_the_same_file_only(void)
{
    char folder[] = "/tmp/station-XXXXXX", args[256], path[64], name[64];
    static const char *const names[] = { "journal", "place", "place.lock" };

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/journal", folder);
    (void)snprintf(args, sizeof args, "path: %s\nposition: %s/place\n", path, folder);
    write_journal(path, "w", "0 1\n1 2\n2 half");
    expect_sum(args, 3);
    write_journal(path, "a", " a line\n3 40\n");
    expect_sum(args, 40);
    write_journal(path, "w", "0 1\n9 7\n2 half a line\n3 40\n4 50\n"); /* another one */
    expect_sum(args, 98);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        CU_ASSERT_EQUAL(remove(name), 0);
    }
    CU_ASSERT_EQUAL(remove(folder), 0);
}

static void test_equal_sensors_have_equal_keys(void)
{
    struct weir_kit *kit = open_kit("readings", "count: 8");

    CU_ASSERT_EQUAL(weir_kit_produce_all(kit, 8), WEIR_END);
    for (uint32_t i = 0; i < STATION_SENSORS; i++)
        CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, i)->key,
                        weir_kit_emitted(kit, 0, i + STATION_SENSORS)->key);
    CU_ASSERT_NOT_EQUAL(weir_kit_emitted(kit, 0, 0)->key, weir_kit_emitted(kit, 0, 1)->key);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_readings_wait_until_it_is_warm(void)
{
    struct weir_kit *kit = open_kit("warm_up", "after: 20ms");

    CU_ASSERT_EQUAL(give(kit, 0, 1), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, 1, 2), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_stashed_count(kit), 2);
    weir_kit_advance(kit, 20);
    CU_ASSERT_EQUAL(weir_kit_stashed_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_handle_unstashed(kit), 2);
    CU_ASSERT_EQUAL(give(kit, 2, 3), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 3);
    CU_ASSERT(weir_kit_has_logged(kit, WEIR_LOG_INFO, "warm waiting=2"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_full_stash_is_tried_again(void)
{
    struct weir_kit *kit = open_kit("warm_up", "");

    for (uint64_t i = 0; i < 256; i++)
        CU_ASSERT_EQUAL(give(kit, i, 1), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, 256, 1), WEIR_RETRY);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "the stash is full");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_bounds_that_cross_are_refused(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "watch");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "low: 60\nhigh: 50"), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit),
                           "args:1:6: low: must not be above high, which is 50\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_live_options_change_in_the_running_worker(void)
{
    struct weir_kit *kit = open_kit("watch", "high: 50");

    CU_ASSERT_EQUAL(weir_kit_audience(kit, STATION_ALARM, 1), 0);
    CU_ASSERT_EQUAL(give(kit, 0, 60), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2); /* the reading and the alarm */
    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(kit, "high: 70"), 0);
    CU_ASSERT(weir_kit_has_logged(kit, WEIR_LOG_INFO, "bounds low=0 high=70"));
    CU_ASSERT_EQUAL(give(kit, 1, 60), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_event_without_audience_is_not_made(void)
{
    struct weir_kit *kit = open_kit("watch", "high: 50");

    CU_ASSERT_EQUAL(give(kit, 0, 60), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_audience(kit, STATION_ALARM, 2), 0);
    CU_ASSERT_EQUAL(give(kit, 1, 60), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 2)->way, WEIR_KIT_PUBLISH);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_alarm_becomes_a_picture(void)
{
    struct weir_kit *siren = open_kit("siren", "");
    struct weir_kit *screen = open_kit("screen", "");
    const struct weir_message *picture;

    CU_ASSERT_EQUAL(give_alarm(siren), WEIR_DONE);
    picture = weir_kit_emitted(siren, 0, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(picture);
    CU_ASSERT_EQUAL(picture->size, 256 * 1024);
    CU_ASSERT_EQUAL(((const unsigned char *)picture->data)[1000], 99);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(
            weir_kit_handle_blob(screen, STATION_PICTURE_TAG, picture->data, picture->size),
            WEIR_DONE);
    weir_kit_close(screen, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(screen), "screen 0: 2 pictures\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(screen), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(siren), 0);
}

static void test_no_memory_for_a_picture_is_tried_again(void)
{
    for (uint32_t nth = 1; nth <= 2; nth++) {
        struct weir_kit *kit = open_kit("siren", "");

        weir_kit_fail_allocation(kit, nth);
        CU_ASSERT_EQUAL(give_alarm(kit), WEIR_RETRY);
        CU_ASSERT_EQUAL(give_alarm(kit), WEIR_DONE);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "next_source_goes_on", test_next_source_goes_on },
        { "the journal", test_journal_goes_on_in_the_same_file_only },
        { "equal_sensors_have_equal_keys", test_equal_sensors_have_equal_keys },
        { "readings_wait_until_it_is_warm", test_readings_wait_until_it_is_warm },
        { "full_stash_is_tried_again", test_full_stash_is_tried_again },
        { "bounds_that_cross_are_refused", test_bounds_that_cross_are_refused },
        { "live_options_change_in_the_running_worker",
          test_live_options_change_in_the_running_worker },
        { "event_without_audience_is_not_made", test_event_without_audience_is_not_made },
        { "alarm_becomes_a_picture", test_alarm_becomes_a_picture },
        { "no_memory_for_a_picture_is_tried_again", test_no_memory_for_a_picture_is_tried_again },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "station", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
