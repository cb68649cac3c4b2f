/*
 * Goal: report.results prints a line for what the operator asked for, counts everything, sums up
 * once at the end and asks for exit status 1 when a file is not ok.
 * Method: results made by the test, a fake host that keeps what was printed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../plugins/integrity/integrity.h"
#include "../host/suite.h"
#include "fake_host.h"

static struct fake_host *start(const char *print, const char *summary)
{
    struct fake_host *fake = fake_start("results");

    if (print)
        fake_set(fake, "print", print);
    if (summary)
        fake_set(fake, "summary", summary);
    CU_ASSERT_EQUAL_FATAL(fake_open(fake), 0);
    return fake;
}

static int give(struct fake_host *fake, enum integrity_verdict verdict, int error, const char *path)
{
    static const char package[] = "bash";
    size_t size = sizeof(struct integrity_result) + sizeof package + strlen(path) + 1;
    struct integrity_result *result = calloc(1, size);
    int answer;

    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    result->verdict = (uint32_t)verdict;
    result->error = error;
    result->bytes = 1500;
    result->package_size = sizeof package - 1;
    result->path_size = (uint32_t)strlen(path);
    memcpy(result + 1, package, sizeof package);
    memcpy((char *)(result + 1) + sizeof package, path, strlen(path) + 1);
    answer = fake_handle(fake, INTEGRITY_RESULT_TAG, result, size);
    free(result);
    return answer;
}

static void give_one_of_each(struct fake_host *fake)
{
    CU_ASSERT_EQUAL(give(fake, INTEGRITY_OK, 0, "/ok"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(fake, INTEGRITY_CHANGED, 0, "/changed"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(fake, INTEGRITY_MISSING, ENOENT, "/missing"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(fake, INTEGRITY_UNREADABLE, EACCES, "/unreadable"), WEIR_DONE);
}

#define LINES_OF_DIFFERENCES                                                                       \
    "changed     bash  /changed\n"                                                                 \
    "missing     bash  /missing\n"                                                                 \
    "unreadable  bash  /unreadable\t(Permission denied)\n"
#define SUMMARY_OF_EACH "checked 4 files, 6.0 kB: 1 ok, 1 changed, 1 missing, 1 unreadable\n"

static void test_default_prints_differences_and_a_summary(void)
{
    struct fake_host *fake = start(NULL, NULL);

    give_one_of_each(fake);
    CU_ASSERT_STRING_EQUAL(fake->printed, LINES_OF_DIFFERENCES);
    fake_close(fake, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(fake->printed, LINES_OF_DIFFERENCES SUMMARY_OF_EACH);
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    fake_finish(fake);
}

static void test_all_prints_good_files_too(void)
{
    struct fake_host *fake = start("all", "false");

    give_one_of_each(fake);
    fake_close(fake, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(fake->printed, "ok          bash  /ok\n" LINES_OF_DIFFERENCES);
    fake_finish(fake);
}

static void test_nothing_still_sums_up_and_asks_for_the_status(void)
{
    struct fake_host *fake = start("nothing", "true");

    give_one_of_each(fake);
    fake_close(fake, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(fake->printed, SUMMARY_OF_EACH);
    CU_ASSERT_EQUAL(fake->exit_status, 1);
    fake_finish(fake);
}

static void test_good_files_leave_the_status_alone(void)
{
    struct fake_host *fake = start(NULL, NULL);

    CU_ASSERT_EQUAL(give(fake, INTEGRITY_OK, 0, "/ok"), WEIR_DONE);
    fake_close(fake, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(fake->printed,
                           "checked 1 file, 1.5 kB: 1 ok, 0 changed, 0 missing, 0 unreadable\n");
    CU_ASSERT_EQUAL(fake->exit_status, 0);
    fake_finish(fake);
}

static void test_one_that_is_replaced_tells_only_what_it_saw(void)
{
    struct fake_host *fake = start(NULL, NULL);

    fake_close(fake, WEIR_END_REPLACED);
    CU_ASSERT_STRING_EQUAL(fake->printed, "");
    fake_finish(fake);
    fake = start(NULL, NULL);
    CU_ASSERT_EQUAL(give(fake, INTEGRITY_OK, 0, "/ok"), WEIR_DONE);
    fake_close(fake, WEIR_END_REPLACED);
    CU_ASSERT_STRING_EQUAL(fake->printed,
                           "checked 1 file, 1.5 kB: 1 ok, 0 changed, 0 missing, 0 unreadable\n");
    fake_finish(fake);
}

static void test_control_characters_are_escaped(void)
{
    struct fake_host *fake = start(NULL, "false");

    CU_ASSERT_EQUAL(give(fake, INTEGRITY_CHANGED, 0, "/a\nb\tc"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(fake, INTEGRITY_UNREADABLE, 0, "/fifo"), WEIR_DONE);
    CU_ASSERT_STRING_EQUAL(fake->printed, "changed     bash  /a\\nb\\tc\n"
                                          "unreadable  bash  /fifo\t(Not a regular file)\n");
    fake_finish(fake);
}

static void test_other_message_is_rejected(void)
{
    struct integrity_result wrong = { .verdict = INTEGRITY_VERDICTS };
    struct fake_host *fake = start(NULL, NULL);

    CU_ASSERT_EQUAL(fake_handle(fake, "other/1", "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(fake_handle(fake, INTEGRITY_RESULT_TAG, "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(fake_handle(fake, INTEGRITY_RESULT_TAG, &wrong, sizeof wrong), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(fake->reason, "not an integrity.result/1");
    CU_ASSERT_EQUAL(fake->exit_status, 0);
    fake_finish(fake);
}

static void test_unknown_choice_is_refused(void)
{
    struct fake_host *fake = fake_start("results");

    fake_set(fake, "print", "everything");
    CU_ASSERT_EQUAL(fake_open(fake), WEIR_EINVALID);
    fake_finish(fake);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "default prints differences and a summary",
          test_default_prints_differences_and_a_summary },
        { "all prints good files too", test_all_prints_good_files_too },
        { "nothing still sums up and asks for the status",
          test_nothing_still_sums_up_and_asks_for_the_status },
        { "good files leave the status alone", test_good_files_leave_the_status_alone },
        { "one that is replaced tells only what it saw",
          test_one_that_is_replaced_tells_only_what_it_saw },
        { "control characters are escaped", test_control_characters_are_escaped },
        { "other message is rejected", test_other_message_is_rejected },
        { "unknown choice is refused", test_unknown_choice_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin report", tests);
}
