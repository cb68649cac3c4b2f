/* SPDX-License-Identifier: MIT */
/*
 * Goal:   exec.run waits for a command whose predecessor was brief, and watches any other one. The
 *         verdict, the output and the log are the same.
 * Method: real commands, run by the worker in the test kit. How long a command takes is up to the
 *         machine, so a test that needs a brief one runs it until `handle` has waited for it.
 */
#include <string.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "exec_command.h"

static void test_first_command_is_watched(void)
{
    struct weir_kit *kit = worker("command: ['true']");

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_KEEP);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    finish(kit);
}

/* Gives the text until `handle` itself returns a verdict: a slow machine may take some tries. */
static int give_until_brief(struct weir_kit *kit, const char *text)
{
    int verdict;

    while ((verdict = weir_kit_handle(kit, "text/1", text, strlen(text))) == WEIR_KEEP)
        run_until(kit, nothing_is_kept);
    return verdict;
}

static void test_brief_command_is_waited_for_and_its_output_counts(void)
{
    struct weir_kit *kit = worker(
        "shell: true\ncommand: ['echo \"$1\"; echo why >&2; exit \"$1\"', "
        "'{}']\nretry: [7]\nretry_after: 2s");
    size_t count;

    CU_ASSERT_EQUAL(give_until_brief(kit, "0"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 0);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "line=why"));
    count = weir_kit_settled_count(kit, WEIR_DONE);
    expect_output(kit, count - 1, "0\n");
    CU_ASSERT_EQUAL(weir_kit_done(kit, "commands"), count);
    CU_ASSERT_EQUAL(give_until_brief(kit, "7"), WEIR_RETRY);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "exit code 7");
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 2000);
    CU_ASSERT_EQUAL(give_until_brief(kit, "8"), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "exit code 8");
    finish(kit);
}

static void test_output_of_a_brief_command_waits_for_room(void)
{
    struct weir_kit *kit = worker("command: [cat]");

    (void)give_until_brief(kit, "x");
    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", "last", 4), WEIR_KEEP);
    run_until(kit, a_timer_waits);
    weir_kit_limit(kit, 100, WEIR_EFULL);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 0);
    expect_output(kit, weir_kit_settled_count(kit, WEIR_DONE) - 1, "last");
    finish(kit);
}

static void test_command_that_is_not_brief_any_more_is_watched(void)
{
    struct weir_kit *kit = worker("shell: true\ncommand: ['exec $1', '{}']\ntimeout: 3s");

    (void)give_until_brief(kit, "true");
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", "sleep 1000", 10), WEIR_KEEP);
    weir_kit_advance(kit, 3000);
    run_until(kit, nothing_is_kept);
    expect_settled(kit, WEIR_REJECT, 1, "time-out");
    (void)give_until_brief(kit, "true");
    give(kit, "head -c 1000000 /dev/zero");
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0) ? weir_kit_emitted(kit, 0, 0)->size : 0, 1000000);
    finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "first command", test_first_command_is_watched },
        { "verdict and output", test_brief_command_is_waited_for_and_its_output_counts },
        { "output without room", test_output_of_a_brief_command_waits_for_room },
        { "no longer brief", test_command_that_is_not_brief_any_more_is_watched },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec.run, brief commands", tests);
}
