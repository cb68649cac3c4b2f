/* SPDX-License-Identifier: MIT */
/*
 * Goal: sink.record writes every number that it handled exactly once, in whole lines, into a file
 * of the worker's own; sink.null takes any message.
 * Method: the kit delivers numbers; the files are read back. A full disk is /dev/full.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "../../../plugins/gen/gen.h"
#include "../host/suite.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

static int give(struct weir_kit *kit, uint64_t number)
{
    struct gen_number message = { number };

    return weir_kit_handle(kit, GEN_NUMBER_TAG, &message, sizeof message);
}

static void expect_file(struct scratch *scratch, const char *name, const char *content)
{
    char *text = scratch_read(scratch, name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, content);
    free(text);
}

static void test_numbers_are_written_by_the_close(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");

    scratch_init(&scratch);
    weir_kit_place(kit, 3, 0);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "path: %s\nspin: 10", scratch_path(&scratch, "%i.txt")), 0);
    CU_ASSERT_EQUAL(give(kit, 5), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, UINT64_MAX), WEIR_DONE);
    expect_file(&scratch, "3-103.txt", "");
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    expect_file(&scratch, "3-103.txt", "5\n18446744073709551615\n");
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

static void test_full_batch_is_written_at_once(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");

    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "path: %s\nbatch: 2", scratch_path(&scratch, "file")), 0);
    for (uint64_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(give(kit, i), WEIR_DONE);
    expect_file(&scratch, "file", "0\n1\n2\n3\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    expect_file(&scratch, "file", "0\n1\n2\n3\n4\n");
    scratch_finish(&scratch);
}

static void test_renamed_file_is_left_for_another_one(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");
    char *path;

    scratch_init(&scratch);
    path = strdup(scratch_path(&scratch, "file"));
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "path: %s", path), 0);
    CU_ASSERT_EQUAL(give(kit, 1), WEIR_DONE);
    CU_ASSERT_EQUAL(rename(path, scratch_path(&scratch, "file.1")), 0);
    CU_ASSERT_EQUAL(give(kit, 2), WEIR_DONE);
    weir_kit_reopen(kit);
    CU_ASSERT_EQUAL(give(kit, 3), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    expect_file(&scratch, "file.1", "1\n2\n");
    expect_file(&scratch, "file", "3\n");
    free(path);
    scratch_finish(&scratch);
}

static void test_two_lives_append_to_one_file(void)
{
    struct scratch scratch;

    scratch_init(&scratch);
    for (uint64_t life = 0; life < 2; life++) {
        struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");

        CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "path: %s", scratch_path(&scratch, "file")),
                              0);
        CU_ASSERT_EQUAL(give(kit, life), WEIR_DONE);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
    expect_file(&scratch, "file", "0\n1\n");
    scratch_finish(&scratch);
}

static void test_batch_larger_than_the_buffer_loses_nothing(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");
    const uint64_t first = UINT64_MAX - 9999;
    char *text;

    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "path: %s\nbatch: 65536", scratch_path(&scratch, "file")), 0);
    for (uint64_t i = 0; i < 10000; i++)
        CU_ASSERT_EQUAL(give(kit, first + i), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    text = scratch_read(&scratch, "file");
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (uint64_t i = 0; i < 10000; i++)
        CU_ASSERT_EQUAL(strtoull(text + 21 * i, NULL, 10), first + i);
    CU_ASSERT_EQUAL(strlen(text), 210000);
    free(text);
    scratch_finish(&scratch);
}

static void test_full_disk_fails_and_is_reported(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "path: /dev/full\nbatch: 1"), 0);
    CU_ASSERT_EQUAL(give(kit, 1), WEIR_FAIL);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "No space left on device"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    weir_kit_close(kit, WEIR_END_CRASH);
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_file_that_cannot_be_opened_is_reported(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "path: /no/such/directory/file"), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "record: No such file or directory");
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "path=/no/such/directory/file"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_record_takes_numbers_only(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "record");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "path: /dev/null"), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "other/1", "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, GEN_NUMBER_TAG, "1234", 4), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "not a gen.number/1");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_null_counts_anything(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "null");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "spin: 3"), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, NULL, NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "other/1", "12345678", 8), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "numbers are written by the close", test_numbers_are_written_by_the_close },
        { "full batch is written at once", test_full_batch_is_written_at_once },
        { "renamed file", test_renamed_file_is_left_for_another_one },
        { "two lives append to one file", test_two_lives_append_to_one_file },
        { "batch larger than the buffer loses nothing",
          test_batch_larger_than_the_buffer_loses_nothing },
        { "full disk fails and is reported", test_full_disk_fails_and_is_reported },
        { "file that cannot be opened is reported", test_file_that_cannot_be_opened_is_reported },
        { "record takes numbers only", test_record_takes_numbers_only },
        { "null counts anything", test_null_counts_anything },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin sink", tests);
}
