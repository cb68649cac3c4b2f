/*
 * Goal: sink.record writes every number it handled exactly once, in whole lines, into a file of the
 * worker's own; sink.null takes anything.
 * Method: a fake host that hands over numbers; the files are read back. A full disk is /dev/full.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../plugins/gen/gen.h"
#include "../host/suite.h"
#include "fake_host.h"
#include "scratch.h"

static int give(struct fake_host *fake, uint64_t number)
{
    struct gen_number message = { number };

    return fake_handle(fake, GEN_NUMBER_TAG, &message, sizeof message);
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
    struct fake_host *fake = fake_start("record");

    scratch_init(&scratch);
    fake->index = 3;
    fake_set(fake, "path", scratch_path(&scratch, "%i.txt"));
    fake_set(fake, "spin", "10");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(give(fake, 5), WEIR_DONE);
    CU_ASSERT_EQUAL(give(fake, UINT64_MAX), WEIR_DONE);
    expect_file(&scratch, "3-103.txt", "");
    fake_close(fake, WEIR_END_SHUTDOWN);
    expect_file(&scratch, "3-103.txt", "5\n18446744073709551615\n");
    CU_ASSERT_EQUAL(fake_progress(fake, "messages").done, 2);
    fake_finish(fake);
    scratch_finish(&scratch);
}

static void test_full_batch_is_written_at_once(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("record");

    scratch_init(&scratch);
    fake_set(fake, "path", scratch_path(&scratch, "file"));
    fake_set(fake, "batch", "2");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    for (uint64_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(give(fake, i), WEIR_DONE);
    expect_file(&scratch, "file", "0\n1\n2\n3\n");
    fake_finish(fake);
    expect_file(&scratch, "file", "0\n1\n2\n3\n4\n");
    scratch_finish(&scratch);
}

static void test_two_lives_append_to_one_file(void)
{
    struct scratch scratch;

    scratch_init(&scratch);
    for (uint64_t life = 0; life < 2; life++) {
        struct fake_host *fake = fake_start("record");

        fake_set(fake, "path", scratch_path(&scratch, "file"));
        CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
        CU_ASSERT_EQUAL(give(fake, life), WEIR_DONE);
        fake_finish(fake);
    }
    expect_file(&scratch, "file", "0\n1\n");
    scratch_finish(&scratch);
}

static void test_batch_larger_than_the_buffer_loses_nothing(void)
{
    struct scratch scratch;
    struct fake_host *fake = fake_start("record");
    const uint64_t first = UINT64_MAX - 9999;
    char *text;

    scratch_init(&scratch);
    fake_set(fake, "path", scratch_path(&scratch, "file"));
    fake_set(fake, "batch", "65536");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    for (uint64_t i = 0; i < 10000; i++)
        CU_ASSERT_EQUAL(give(fake, first + i), WEIR_DONE);
    fake_finish(fake);
    text = scratch_read(&scratch, "file");
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (uint64_t i = 0; i < 10000; i++)
        CU_ASSERT_EQUAL(strtoull(text + 21 * i, NULL, 10), first + i);
    CU_ASSERT_EQUAL(strlen(text), 210000);
    free(text);
    scratch_finish(&scratch);
}

static void test_full_disk_fails_and_is_told(void)
{
    struct fake_host *fake = fake_start("record");

    fake_set(fake, "path", "/dev/full");
    fake_set(fake, "batch", "1");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(give(fake, 1), WEIR_FAIL);
    CU_ASSERT_TRUE(fake_logged(fake, WEIR_LOG_ERROR, "No space left on device"));
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    fake_close(fake, WEIR_END_CRASH);
    CU_ASSERT_EQUAL(fake->log_count, 2);
    fake_finish(fake);
}

static void test_file_that_cannot_be_opened_is_told(void)
{
    struct fake_host *fake = fake_start("record");

    fake_set(fake, "path", "/no/such/directory/file");
    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(fake->reason, "record cannot be opened");
    CU_ASSERT_TRUE(fake_logged(fake, WEIR_LOG_ERROR, "path=/no/such/directory/file"));
    fake_finish(fake);
}

static void test_record_takes_numbers_only(void)
{
    struct fake_host *fake = fake_start("record");

    fake_set(fake, "path", "/dev/null");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_handle(fake, "other/1", "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(fake_handle(fake, GEN_NUMBER_TAG, "1234", 4), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(fake->reason, "not a gen.number/1");
    fake_finish(fake);
}

static void test_null_counts_anything(void)
{
    struct fake_host *fake = fake_start("null");

    fake_set(fake, "spin", "3");
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    CU_ASSERT_EQUAL(fake_handle(fake, NULL, NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(fake_handle(fake, "other/1", "12345678", 8), WEIR_DONE);
    CU_ASSERT_EQUAL(fake_progress(fake, "messages").done, 2);
    fake_finish(fake);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "numbers are written by the close", test_numbers_are_written_by_the_close },
        { "full batch is written at once", test_full_batch_is_written_at_once },
        { "two lives append to one file", test_two_lives_append_to_one_file },
        { "batch larger than the buffer loses nothing",
          test_batch_larger_than_the_buffer_loses_nothing },
        { "full disk fails and is told", test_full_disk_fails_and_is_told },
        { "file that cannot be opened is told", test_file_that_cannot_be_opened_is_told },
        { "record takes numbers only", test_record_takes_numbers_only },
        { "null counts anything", test_null_counts_anything },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin sink", tests);
}
