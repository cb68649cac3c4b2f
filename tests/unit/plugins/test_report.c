/* SPDX-License-Identifier: MIT */
/*
 * Goal: report.results prints the requested lines, counts everything, prints one summary at the end
 * and sets exit status 1 when a file is not ok.
 * Method: results made by the test; the kit keeps the printed text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "../../../plugins/integrity/integrity.h"
#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

static struct weir_kit *start(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "results");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

static int give(struct weir_kit *kit, enum integrity_verdict verdict, int error, const char *path)
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
    answer = weir_kit_handle(kit, INTEGRITY_RESULT_TAG, result, size);
    free(result);
    return answer;
}

static void give_one_of_each(struct weir_kit *kit)
{
    CU_ASSERT_EQUAL(give(kit, INTEGRITY_OK, 0, "/ok"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, INTEGRITY_CHANGED, 0, "/changed"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, INTEGRITY_MISSING, ENOENT, "/missing"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, INTEGRITY_UNREADABLE, EACCES, "/unreadable"), WEIR_DONE);
}

#define LINES_OF_DIFFERENCES                                                                       \
    "changed     bash  /changed\n"                                                                 \
    "missing     bash  /missing\n"                                                                 \
    "unreadable  bash  /unreadable\t(Permission denied)\n"
#define SUMMARY_OF_EACH "checked 4 files, 6.0 kB: 1 ok, 1 changed, 1 missing, 1 unreadable\n"

static void test_default_prints_differences_and_a_summary(void)
{
    struct weir_kit *kit = start("");

    give_one_of_each(kit);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), LINES_OF_DIFFERENCES);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), LINES_OF_DIFFERENCES SUMMARY_OF_EACH);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_all_prints_good_files_too(void)
{
    struct weir_kit *kit = start("print: all\nsummary: false");

    give_one_of_each(kit);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "ok          bash  /ok\n" LINES_OF_DIFFERENCES);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_nothing_still_sums_up_and_asks_for_the_status(void)
{
    struct weir_kit *kit = start("print: nothing\nsummary: true");

    give_one_of_each(kit);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), SUMMARY_OF_EACH);
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_good_files_leave_the_status_alone(void)
{
    struct weir_kit *kit = start("");

    CU_ASSERT_EQUAL(give(kit, INTEGRITY_OK, 0, "/ok"), WEIR_DONE);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit),
                           "checked 1 file, 1.5 kB: 1 ok, 0 changed, 0 missing, 0 unreadable\n");
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_replaced_worker_reports_only_its_own_results(void)
{
    struct weir_kit *kit = start("");

    weir_kit_close(kit, WEIR_END_REPLACED);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = start("");
    CU_ASSERT_EQUAL(give(kit, INTEGRITY_OK, 0, "/ok"), WEIR_DONE);
    weir_kit_close(kit, WEIR_END_REPLACED);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit),
                           "checked 1 file, 1.5 kB: 1 ok, 0 changed, 0 missing, 0 unreadable\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_control_characters_are_escaped(void)
{
    struct weir_kit *kit = start("summary: false");

    CU_ASSERT_EQUAL(give(kit, INTEGRITY_CHANGED, 0, "/a\nb\tc"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, INTEGRITY_UNREADABLE, 0, "/fifo"), WEIR_DONE);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit),
                           "changed     bash  /a\\nb\\tc\n"
                           "unreadable  bash  /fifo\t(Not a regular file)\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_other_message_is_rejected(void)
{
    struct integrity_result wrong = { .verdict = INTEGRITY_VERDICTS };
    struct weir_kit *kit = start("");

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "other/1", "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, INTEGRITY_RESULT_TAG, "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, INTEGRITY_RESULT_TAG, &wrong, sizeof wrong), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "not an integrity.result/1");
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_unknown_choice_is_refused(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "results");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "print: everything"), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
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
        { "one that is replaced reports only what it saw",
          test_replaced_worker_reports_only_its_own_results },
        { "control characters are escaped", test_control_characters_are_escaped },
        { "other message is rejected", test_other_message_is_rejected },
        { "unknown choice is refused", test_unknown_choice_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin report", tests);
}
