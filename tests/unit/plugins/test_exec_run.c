/* SPDX-License-Identifier: MIT */
/*
 * Goal:   exec.run runs a command for each message: the payload reaches it, its output and its exit
 *         code reach the host, and it leaves no process behind when its message is settled. Shows
 *         promise B13.
 * Method: real commands of the shell and of coreutils, run by the worker in the test kit. The clock
 *         of the kit is moved by hand; the test waits for the watches of the worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/exec/exec.h"
#include "../../../plugins/files/files.h"
#include "../host/suite.h"
#include "exec_command.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

/* --- payload and output ----------------------------------------------------------------------- */

static void test_payload_on_input_comes_out_at_the_output(void)
{
    struct weir_kit *kit = worker("command: [tr, a-z, A-Z]");

    give(kit, "first");
    give(kit, "second\n");
    expect_output(kit, 0, "FIRST");
    expect_output(kit, 1, "SECOND\n");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 2);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "commands"), 2);
    finish(kit);
}

static void test_marks_in_arguments_are_replaced_by_the_payload(void)
{
    struct weir_kit *kit = worker("command: [printf, '%s|', 'a{}b{}', '{}', '', '{']");

    give(kit, "x y; $(exit)");
    give(kit, "");
    expect_output(kit, 0, "ax y; $(exit)bx y; $(exit)|x y; $(exit)||{|");
    expect_output(kit, 1, "ab|||{|");
    finish(kit);
}

static void test_input_is_empty_when_an_argument_has_the_payload(void)
{
    struct weir_kit *kit = worker("command: ['cat', '-', '/dev/null{}']\ndone: [0, 1]");

    give(kit, "");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = worker("shell: true\ncommand: ['cat; echo \" $1\"', '{}']\ninput: payload");
    give(kit, "both");
    expect_output(kit, 0, "both both\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = worker("command: [cat]\ninput: none");
    give(kit, "nothing");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    finish(kit);
}

static void test_line_of_a_file_is_the_payload(void)
{
    struct weir_kit *kit = worker("command: [cat]");
    struct {
        struct files_line line;
        char text[8];
    } message = { { 1, 4, 1, 0 }, "f\0line" };

    CU_ASSERT_EQUAL_FATAL(
        weir_kit_handle(kit, FILES_LINE_TAG, &message, sizeof message.line + 1 + 4 + 2), WEIR_KEEP);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 0, "line");
    finish(kit);
}

static void test_large_payload_is_not_read_and_harms_nobody(void)
{
    struct weir_kit *kit = worker("command: [head, -c, 3]");
    size_t size = (size_t)4 << 20;
    char *bytes = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memset(bytes, 'y', size);
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", bytes, size), WEIR_KEEP);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 0, "yyy");
    free(bytes);
    finish(kit);
}

static void test_large_output_arrives_whole(void)
{
    struct weir_kit *kit = worker("command: [head, -c, 1000000, /dev/zero]\noutput_max: 1000000");

    give(kit, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_emitted(kit, 0, 0));
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->size, 1000000);
    finish(kit);
}

static void test_output_above_the_limit_is_rejected(void)
{
    struct weir_kit *kit = worker("command: [cat, /dev/zero]\noutput_max: 100000");

    give(kit, "");
    expect_settled(kit, WEIR_REJECT, 1, "more output than output_max");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = worker("command: [echo, four]\noutput_max: 4");
    give(kit, "");
    expect_settled(kit, WEIR_REJECT, 1, "more output than output_max");
    finish(kit);
}

static void test_key_of_the_message_goes_on_with_the_output(void)
{
    struct weir_kit *kit = worker("command: [cat]");
    struct weir_message like = {
        .data = (void *)(uintptr_t) "x", .size = 1, .key = 77, .kind = WEIR_MESSAGE, .attempt = 1
    };

    CU_ASSERT_EQUAL_FATAL(weir_kit_deliver(kit, &like), WEIR_KEEP);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->key, 77);
    finish(kit);
}

static void test_request_gets_the_output_as_its_reply(void)
{
    struct weir_kit *kit = worker("command: [tr, a-z, A-Z]");

    CU_ASSERT_EQUAL_FATAL(weir_kit_request(kit, "text/1", "yes", 3), WEIR_KEEP);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_replied(kit, 0));
    CU_ASSERT_EQUAL(weir_kit_replied(kit, 0)->size, 3);
    CU_ASSERT_EQUAL(memcmp(weir_kit_replied(kit, 0)->data, "YES", 3), 0);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    finish(kit);
}

static void test_output_without_room_waits_and_nothing_runs_twice(void)
{
    struct weir_kit *kit = worker("command: [cat]");

    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", "x", 1), WEIR_KEEP);
    run_until(kit, a_timer_waits);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_limit(kit, 1, WEIR_EFULL);
    weir_kit_advance(kit, 1000);
    expect_output(kit, 0, "x");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    finish(kit);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void test_exit_code_becomes_the_verdict(void)
{
    struct weir_kit *kit = worker(
        "shell: true\ncommand: ['exit $1', '{}']\ndone: [0, 3]\nretry: [75, 9]\n"
        "retry_after: 2s");

    give(kit, "3");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    give(kit, "9");
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 2000);
    expect_settled(kit, WEIR_RETRY, 1, "exit code 9");
    give(kit, "1");
    expect_settled(kit, WEIR_REJECT, 1, "exit code 1");
    CU_ASSERT_STRING_EQUAL(
        weir_kit_inspect(kit, (const char *[]){ "commands_done", "commands_failed", NULL }),
        "commands_done=1\ncommands_failed=2\n");
    finish(kit);
}

static void test_output_of_a_failed_command_is_dropped(void)
{
    struct weir_kit *kit = worker("shell: true\ncommand: ['echo half; exit 1']");

    give(kit, "");
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 0));
    finish(kit);
}

static void test_signal_rejects_or_retries(void)
{
    struct weir_kit *kit = worker("shell: true\ncommand: ['kill -KILL $$']");

    give(kit, "");
    expect_settled(kit, WEIR_REJECT, 1, "signal 9 (KILL)");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = worker("shell: true\ncommand: ['kill -SEGV $$']\nretry: [signal]");
    give(kit, "");
    expect_settled(kit, WEIR_RETRY, 1, "signal 11 (SEGV)");
    finish(kit);
}

static void test_time_out_ends_a_command_by_term(void)
{
    struct weir_kit *kit = worker("command: [sleep, 1000]\ntimeout: 3s");

    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_KEEP);
    weir_kit_advance(kit, 2999);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_advance(kit, 1);
    run_until(kit, nothing_is_kept);
    expect_settled(kit, WEIR_REJECT, 1, "time-out");
    finish(kit);
}

static bool has_spoken(struct weir_kit *kit)
{
    return weir_kit_log_count(kit) > 0;
}

static void test_group_that_ignores_term_is_killed_after_the_grace(void)
{
    struct weir_kit *kit = worker("shell: true\ntimeout: 3s\ngrace: 2s\nretry: [timeout]\n"
                                  "command: ['trap \"\" TERM; (echo ready >&2; sleep 1000); :']");

    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_KEEP);
    run_until(kit, has_spoken);
    weir_kit_advance(kit, 3000);
    weir_kit_advance(kit, 1999);
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_advance(kit, 1);
    run_until(kit, nothing_is_kept);
    expect_settled(kit, WEIR_RETRY, 1, "time-out");
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, (const char *[]){ "timeouts", NULL }),
                           "timeouts=1\n");
    finish(kit);
}

static void test_processes_that_a_command_leaves_end_with_it(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");
    char *number;
    pid_t left;

    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "shell: true\ncommand: ['sleep 1000 & echo $! >\"$1\"', '{}']"),
        0);
    give(kit, scratch_path(&scratch, "number"));
    number = scratch_read(&scratch, "number");
    CU_ASSERT_PTR_NOT_NULL_FATAL(number);
    left = (pid_t)strtol(number, NULL, 10);
    free(number);
    /* An orphan is gone when the first process has reaped it. */
    while (kill(left, 0) == 0)
        (void)poll(NULL, 0, 1);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    finish(kit);
    scratch_finish(&scratch);
}

static void test_result_that_is_not_wanted_stops_the_command(void)
{
    struct weir_kit *kit = worker("command: [sleep, 1000]");

    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_KEEP);
    weir_kit_advance(kit, 1000);
    weir_kit_wanted(kit, false);
    weir_kit_advance(kit, 1000);
    run_until(kit, nothing_is_kept);
    expect_settled(kit, WEIR_REJECT, 1, "the result is not wanted any more");
    finish(kit);
}

static void test_process_is_named_until_it_is_reaped(void)
{
    struct weir_kit *kit = worker("command: [sleep, 1000]");
    pid_t process;

    CU_ASSERT_EQUAL(weir_kit_child_process(kit), 0);
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_KEEP);
    process = (pid_t)weir_kit_child_process(kit);
    CU_ASSERT_FATAL(process > 0);
    CU_ASSERT_EQUAL(kill(process, SIGKILL), 0);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_child_process(kit), 0);
    expect_settled(kit, WEIR_REJECT, 1, "signal 9 (KILL)");
    finish(kit);
}

static void test_close_kills_a_command_that_runs(void)
{
    struct weir_kit *kit = worker("shell: true\ncommand: ['trap \"\" TERM; sleep 1000; :']");

    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_KEEP);
    weir_kit_close(kit, WEIR_END_KILL);
    CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1); /* the message was not settled */
}

/* --- standard error --------------------------------------------------------------------------- */

static void test_standard_error_is_logged_up_to_the_limit(void)
{
    struct weir_kit *kit = worker("shell: true\nlog_lines: 2\n"
                                  "command: ['printf \"one\\ntwo\\nthree\\nfour\" >&2']");

    give(kit, "");
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "line=one"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "line=two"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "standard error process="));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "lines=2"));
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 3);
    finish(kit);
}

static void test_endless_standard_error_is_read_and_cut(void)
{
    struct weir_kit *kit = worker(
        "shell: true\nlog_lines: 1\ncommand: ['head -c 1000000 /dev/zero >&2']");

    give(kit, "");
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    finish(kit);
}

/* --- what cannot run -------------------------------------------------------------------------- */

static void expect_refused(const char *args, const char *reason)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, args), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
    finish(kit);
}

static void test_program_that_is_missing_refuses_to_open(void)
{
    expect_refused("command: [no-such-program]", "no-such-program: No such file or directory");
    expect_refused("command: [/no/such]", "/no/such: No such file or directory");
    expect_refused("command: [/etc/passwd]", "/etc/passwd: Permission denied");
    expect_refused("command: [/etc]", "/etc: Is a directory");
    expect_refused("command: [pwd]\ndirectory: /no/such",
                   "directory /no/such: No such file or directory");
    expect_refused("command: [pwd]\ndirectory: /bin/sh", "directory /bin/sh: Not a directory");
    expect_refused("command: [pwd]\ndirectory: /etc/passwd",
                   "directory /etc/passwd: Not a directory");
}

/* As execvp does: a folder of that name is no program. */
static void test_folder_in_path_is_passed_over(void)
{
    struct scratch scratch;
    struct weir_kit *kit;
    char path[1024];
    char *former = strdup(getenv("PATH"));

    scratch_init(&scratch);
    (void)scratch_directory(&scratch, "one");
    (void)scratch_directory(&scratch, "one/tool");
    (void)scratch_directory(&scratch, "two");
    CU_ASSERT_EQUAL_FATAL(chmod(scratch_write(&scratch, "two/tool", "#!/bin/sh\necho two\n"), 0755),
                          0);
    (void)snprintf(path, sizeof path, "%s/one:%s/two", scratch.path, scratch.path);
    CU_ASSERT_EQUAL_FATAL(setenv("PATH", path, 1), 0);
    kit = worker("command: [tool]");
    CU_ASSERT_EQUAL_FATAL(setenv("PATH", former, 1), 0);
    give(kit, "");
    expect_output(kit, 0, "two\n");
    finish(kit);
    free(former);
    scratch_finish(&scratch);
}

static void test_program_that_goes_away_fails_the_worker(void)
{
    struct scratch scratch;
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");
    const char *path;

    scratch_init(&scratch);
    path = scratch_write(&scratch, "program", "#!/bin/sh\n");
    CU_ASSERT_EQUAL_FATAL(chmod(path, 0755), 0);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "command: ['%s']", path), 0);
    give(kit, "");
    CU_ASSERT_EQUAL_FATAL(unlink(path), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", NULL, 0), WEIR_FAIL);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "not started: No such file or directory");
    finish(kit);
    scratch_finish(&scratch);
}

static void test_payload_that_is_no_argument_is_rejected(void)
{
    struct weir_kit *kit = worker("command: [echo, '{}']");
    size_t size = (size_t)1 << 20;
    char *bytes = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memset(bytes, 'x', size);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "a\0b", 3), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "a NUL cannot stand in an argument");
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", bytes, size), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "not started: Argument list too long");
    free(bytes);
    finish(kit);
}

static void test_memory_that_is_out_postpones_the_message(void)
{
    for (uint32_t nth = 1; nth <= 3; nth++) { /* the three watches */
        struct weir_kit *kit = worker("command: [cat]");

        weir_kit_fail_allocation(kit, nth);
        CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "x", 1), WEIR_POSTPONE);
        CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 0);
        CU_ASSERT_EQUAL(weir_kit_descriptors(kit), 0); /* a message that waits has no share */
        give(kit, "x");
        expect_output(kit, 0, "x");
        finish(kit);
    }
}

static void expect_mistake(const char *args, const char *part)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "run");

    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, args));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), part));
    finish(kit);
}

static void test_wrong_options_are_named(void)
{
    expect_mistake("shell: true", "command");
    expect_mistake("command: ['']", "the first word is empty");
    expect_mistake("command: ['{}']", "the payload cannot be the program");
    expect_mistake("shell: true\ncommand: ['echo {}']", "takes the payload as \"$1\"");
    expect_mistake("command: [a]\ndone: [256]", "256 is not 0..255");
    expect_mistake("command: [a]\ndone: [timeout]", "a command that was stopped is not done");
    expect_mistake("command: [a]\nretry: [0]", "an end is in `done`, too");
    expect_mistake("command: [a]\nretry: [often]", "often is not 0..255");
    expect_mistake("command: [a]\ndirectory: ''", "directory: is empty");
    expect_mistake("command: [a]\nenvironment: {'A=B': c}", "`A=B` is no name of a variable");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "payload on input", test_payload_on_input_comes_out_at_the_output },
        { "marks in arguments", test_marks_in_arguments_are_replaced_by_the_payload },
        { "input: auto, payload, none", test_input_is_empty_when_an_argument_has_the_payload },
        { "line of a file", test_line_of_a_file_is_the_payload },
        { "large payload that is not read", test_large_payload_is_not_read_and_harms_nobody },
        { "large output", test_large_output_arrives_whole },
        { "output above the limit", test_output_above_the_limit_is_rejected },
        { "key", test_key_of_the_message_goes_on_with_the_output },
        { "request", test_request_gets_the_output_as_its_reply },
        { "output without room", test_output_without_room_waits_and_nothing_runs_twice },
        { "exit codes", test_exit_code_becomes_the_verdict },
        { "output of a failed command", test_output_of_a_failed_command_is_dropped },
        { "signal", test_signal_rejects_or_retries },
        { "time-out", test_time_out_ends_a_command_by_term },
        { "grace", test_group_that_ignores_term_is_killed_after_the_grace },
        { "processes left behind", test_processes_that_a_command_leaves_end_with_it },
        { "not wanted", test_result_that_is_not_wanted_stops_the_command },
        { "named", test_process_is_named_until_it_is_reaped },
        { "close", test_close_kills_a_command_that_runs },
        { "standard error", test_standard_error_is_logged_up_to_the_limit },
        { "endless standard error", test_endless_standard_error_is_read_and_cut },
        { "missing program", test_program_that_is_missing_refuses_to_open },
        { "folder in PATH", test_folder_in_path_is_passed_over },
        { "program that goes away", test_program_that_goes_away_fails_the_worker },
        { "payload that is no argument", test_payload_that_is_no_argument_is_rejected },
        { "memory is out", test_memory_that_is_out_postpones_the_message },
        { "wrong options", test_wrong_options_are_named },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec.run", tests);
}
