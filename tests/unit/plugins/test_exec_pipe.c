/* SPDX-License-Identifier: MIT */
/*
 * Goal:   exec.pipe gives messages to a child that stays. Every frame of the child has its effect:
 *         a child that ends, that is too slow or that writes something else ends as a failure of
 *         the worker, with its message named, and it leaves no process behind. Shows promise B14.
 * Method: children of the shell, run by the worker in the test kit. The test moves the clock of the
 *         kit, and waits for the watches of the worker.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "../../../plugins/exec/exec.h"
#include "../../../plugins/files/files.h"
#include "../host/suite.h"
#include "exec_child.h"

extern const struct weir_plugin weir_plugin_v1;

/* The child ends as a failure while it has a message. */
static void expect_failure(const char *args, const char *text, const char *reason)
{
    struct weir_kit *kit = worker(args);

    begin(kit, text);
    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), WEIR_END_CRASH);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "child ended with a message in hand"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "tag=text/1"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, text));
    CU_ASSERT_EQUAL(weir_kit_demand(kit), 0);
    finish(kit);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void expect_same(struct weir_kit *kit, size_t one, size_t other)
{
    const struct weir_message *a = weir_kit_emitted(kit, 0, one);
    const struct weir_message *b = weir_kit_emitted(kit, 0, other);

    CU_ASSERT_TRUE_FATAL(a && b && a->size > 0 && a->size == b->size);
    CU_ASSERT_EQUAL(memcmp(a->data, b->data, a->size), 0);
}

static void test_one_child_gets_all_messages(void)
{
    struct weir_kit *kit = worker(
        CHILD("say out \"$kind $attempt $tag $data\"; say out $$; say done"));
    static const char *const texts[] = { "message 1 text/1 one", "message 1 text/1 two words",
                                         "message 1 text/1 " };

    give(kit, "one");
    give(kit, "two words");
    give(kit, "");
    for (size_t i = 0; i < 3; i++)
        expect_output(kit, 2 * i, texts[i]);
    /* The same process. */
    expect_same(kit, 1, 3);
    expect_same(kit, 1, 5);
    CU_ASSERT_STRING_EQUAL(weir_kit_emitted(kit, 0, 0)->tag->name, EXEC_OUTPUT_TAG);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 3);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 3);
    finish(kit);
}

static void test_verdicts_are_those_of_the_child(void)
{
    struct weir_kit *kit = worker(CHILD("case $data in\n"
                                        "        retry) say retry later ' 1500';;\n"
                                        "        ages) say retry never ' 18446744073709551615';;\n"
                                        "        reject) say reject 'no good';;\n"
                                        "        *) say done;;\n"
                                        "      esac"));

    give(kit, "retry");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "later");
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 1500);
    give(kit, "ages");
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 24 * 60 * 60 * 1000);
    give(kit, "reject");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "no good");
    give(kit, "done");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_RETRY), 2);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 1);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    finish(kit);
}

static void test_long_reason_is_cut(void)
{
    struct weir_kit *kit = worker(CHILD("case $data in\n"
                                        "        long) say reject \"$(printf %070000d 7)\";;\n"
                                        "        *) say reject short;;\n"
                                        "      esac"));

    give(kit, "long");
    CU_ASSERT_EQUAL(strspn(weir_kit_reason(kit), "0"), strlen(weir_kit_reason(kit)));
    CU_ASSERT_TRUE(strlen(weir_kit_reason(kit)) > 0);
    give(kit, "other");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "short");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 2);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    finish(kit);
}

static void test_outputs_have_keys_and_the_tag_of_the_option(void)
{
    struct weir_kit *kit = worker(
        "tag: mine/1\n" CHILD("say out a; say out b ' 8'; say out \"$key\"; say done"));
    struct weir_message like = {
        .data = (void *)(uintptr_t) "x", .size = 1, .key = 77, .kind = WEIR_MESSAGE, .attempt = 1
    };

    CU_ASSERT_EQUAL_FATAL(weir_kit_deliver(kit, &like), WEIR_KEEP);
    flush(kit);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->key, 77);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 1)->key, 8);
    expect_output(kit, 2, "77");
    CU_ASSERT_STRING_EQUAL(weir_kit_emitted(kit, 0, 2)->tag->name, "mine/1");
    finish(kit);
}

static void test_request_gets_the_reply(void)
{
    struct weir_kit *kit = worker(CHILD("say reply \"$kind\"; say done"));

    CU_ASSERT_EQUAL_FATAL(weir_kit_request(kit, "text/1", "x", 1), WEIR_KEEP);
    flush(kit);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_replied(kit, 0));
    CU_ASSERT_EQUAL(memcmp(weir_kit_replied(kit, 0)->data, "request", 7), 0);
    finish(kit);
}

static void test_line_of_a_file_is_the_payload(void)
{
    struct weir_kit *kit = worker(CHILD("say out \"$data\"; say done"));
    struct {
        struct files_line line;
        char text[8];
    } message = { { 1, 4, 1, 0 }, "f\0line" };

    CU_ASSERT_EQUAL_FATAL(
        weir_kit_handle(kit, FILES_LINE_TAG, &message, sizeof message.line + 1 + 4 + 2), WEIR_KEEP);
    flush(kit);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 0, "line");
    finish(kit);
}

/* Many times the buffer of a socket, and of a pipe. */
static void test_large_payload_comes_back_whole(void)
{
    struct weir_kit *kit = worker(
        "command:\n"
        "  - python3\n"
        "  - -c\n"
        "  - |\n"
        "    import os\n"
        "    reader, writer = os.fdopen(3, 'rb'), os.fdopen(4, 'wb')\n"
        "    writer.write(b'ready 0\\n'); writer.flush()\n"
        "    while line := reader.readline():\n"
        "        size = int(line.split()[1])\n"
        "        data = reader.read(size)\n"
        "        writer.write(b'out %d\\n%sdone 0\\n' % (size, data)); writer.flush()\n");
    size_t size = (size_t)5 << 20;
    char *bytes = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    for (size_t count = 1; count <= 3; count++) {
        CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", bytes, size), WEIR_KEEP);
        flush(kit);
        run_until(kit, nothing_is_kept);
        CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), count);
        CU_ASSERT_EQUAL_FATAL(weir_kit_emitted(kit, 0, count - 1)->size, size);
        CU_ASSERT_EQUAL(memcmp(weir_kit_emitted(kit, 0, count - 1)->data, bytes, size), 0);
    }
    free(bytes);
    finish(kit);
}

static bool a_timer_waits_for_room(struct weir_kit *kit)
{
    return weir_kit_timer_count(kit) == 1 && weir_kit_emitted(kit, 0, 0) &&
           !weir_kit_emitted(kit, 0, 1) && weir_kit_watch_count(kit) == 2;
}

static void test_output_without_room_holds_the_child_up(void)
{
    struct weir_kit *kit = worker("timeout: 1s\n" CHILD("say out a; say out b; say done"));

    weir_kit_limit(kit, 1, WEIR_EFULL);
    begin(kit, "x");
    run_until(kit, a_timer_waits_for_room);
    weir_kit_advance(kit, 5000); /* the child is not blamed for that time */
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_limit(kit, UINT32_MAX, 0);
    weir_kit_advance(kit, 100);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 1, "b");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    finish(kit);
}

/* A child that emits much for one message goes on as soon as the receiver does. The three frames
 * come in one write: the next one is tried in the turn that the last one was accepted. */
static void test_output_is_tried_again_soon_and_then_more_seldom(void)
{
    struct weir_kit *kit = worker(CHILD("printf 'out 1\\naout 1\\nbout 1\\nc' >&4; say done"));

    weir_kit_limit(kit, 1, WEIR_EFULL);
    begin(kit, "x");
    run_until(kit, a_timer_waits_for_room);
    weir_kit_limit(kit, 1, WEIR_EFULL);
    weir_kit_advance(kit, 1);
    expect_output(kit, 1, "b");
    weir_kit_advance(kit, 1 + 2); /* two tries in vain */
    weir_kit_limit(kit, UINT32_MAX, 0);
    weir_kit_advance(kit, 3);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 0, 2));
    weir_kit_advance(kit, 1);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 2, "c");
    finish(kit);
}

/* The memory that an output needs may be more than the host ever has. */
static void test_output_without_memory_counts_for_the_timeout(void)
{
    struct weir_kit *kit = worker("timeout: 1s\n" CHILD("say out a; say out b; sleep 1000"));

    weir_kit_limit(kit, 1, WEIR_ENOMEM);
    begin(kit, "x");
    run_until(kit, a_timer_waits_for_room);
    weir_kit_advance(kit, 1000);
    run_until(kit, has_ended);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "time-out");
    finish(kit);
}

/* --- failures --------------------------------------------------------------------------------- */

static void test_child_that_ends_is_a_failure_with_its_message(void)
{
    expect_failure(CHILD("kill -KILL $$"), "poison", "signal 9 (KILL)");
    expect_failure(CHILD("exit 3"), "poison", "exit code 3");
    expect_failure(CHILD("exit 0"), "poison", "exit code 0");
    expect_failure(CHILD("say fail 'disk is gone'; sleep 1000"), "poison", "disk is gone");
}

static void test_payload_in_the_log_is_cut_and_printable(void)
{
    struct weir_kit *kit = worker("log_payload: 6\n" CHILD("exit 1"));

    begin(kit, "ab\ncd\033ef");
    run_until(kit, has_ended);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "bytes=8 payload=ab?cd?"));
    CU_ASSERT_FALSE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "payload=ab?cd?e"));
    finish(kit);
    kit = worker("log_payload: 0\n" CHILD("exit 1"));
    begin(kit, "secret");
    run_until(kit, has_ended);
    CU_ASSERT_FALSE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "secret"));
    finish(kit);
}

static void test_what_is_no_frame_is_a_failure(void)
{
    expect_failure(CHILD("echo hello >&4; sleep 1000"), "x", "the child wrote no frame");
    expect_failure(CHILD("head -c 100000 /dev/zero >&4; sleep 1000"), "x",
                   "the child wrote no frame");
    expect_failure(CHILD("say ready; sleep 1000"), "x", "ready came twice");
    expect_failure(CHILD("say reply x; sleep 1000"), "x", "a reply to no request");
    expect_failure("frame_max: 3\n" CHILD("say out 1234; sleep 1000"), "x",
                   "a frame is larger than frame_max");
    expect_failure("grace: 1ms\n" CHILD("exec 4>&-; exit 7"), "x", "exit code 7");
}

/* A verdict before the message was read would put the frames out of step. */
static void test_verdict_before_the_end_of_the_message_is_a_failure(void)
{
    struct weir_kit *kit = worker("shell: true\n"
                                  "command: ['printf \"ready 0\\n\" >&4; read -r line <&3;"
                                  " printf \"done 0\\n\" >&4; sleep 1000']");
    size_t size = (size_t)8 << 20;
    char *bytes = calloc(1, size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", bytes, size), WEIR_KEEP);
    flush(kit);
    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), WEIR_END_CRASH);
    free(bytes);
    finish(kit);
}

static void test_verdict_before_the_end_of_the_child_counts(void)
{
    struct weir_kit *kit = worker(CHILD("say out last; say done; kill -KILL $$"));

    begin(kit, "x");
    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    expect_output(kit, 0, "last");
    CU_ASSERT_FALSE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "message in hand"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "child ended"));
    finish(kit);
}

#define FOR_LONG "open_wait: 1h\nstart_timeout: 1h\n"

/* A worker whose child fails before it is ready. */
static struct weir_kit *refused(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), WEIR_EINVALID);
    return kit;
}

static void expect_refused(const char *args, const char *reason)
{
    struct weir_kit *kit = refused(args);

    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "child ended process="));
    finish(kit);
}

static void test_child_that_ends_at_once_refuses_to_open(void)
{
    struct weir_kit *kit;

    expect_refused(FOR_LONG "command: ['true']", "exit code 0 before it was ready");
    expect_refused(FOR_LONG "shell: true\ncommand: ['exec 4>&-; kill -KILL $$']",
                   "signal 9 (KILL) before it was ready");
    /* It prints more than a pipe holds. */
    kit = refused(FOR_LONG "shell: true\ncommand: ['seq 50000; exit 3']");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "exit code 3 before it was ready");
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "line=1"));
    finish(kit);
}

/* promise B99: the time that a program takes decides nothing. */
static void test_child_that_fails_late_or_writes_something_else_refuses_to_open(void)
{
    expect_refused(FOR_LONG "shell: true\ncommand: ['sleep 1.5; exit 3']",
                   "exit code 3 before it was ready");
    expect_refused(FOR_LONG "shell: true\ncommand: ['echo hello >&4; exec sleep 1000']",
                   "the child wrote no frame");
    expect_refused(FOR_LONG "shell: true\ncommand: ['printf \"done 0\\n\" >&4; exec sleep 1000']",
                   "a frame before ready");
}

static void test_without_open_wait_the_worker_fails_when_it_is_open(void)
{
    struct weir_kit *kit = opened("open_wait: 0s\ncommand: ['true']");

    run_until(kit, has_ended);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "exit code 0 before it was ready");
    finish(kit);
}

/* The first one with these settings finds out for all of them whether the program starts; in a
 * reload it is not worker 0. */
static void test_first_worker_waits_for_its_child_whatever_its_number(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");

    weir_kit_place(kit, 1, 0);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, FOR_LONG "command: ['true']"), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "exit code 0 before it was ready");
    finish(kit);
}

/* It has said that it is ready before. */
static void test_child_that_ends_when_it_is_ready_is_a_failure_without_a_message(void)
{
    struct weir_kit *kit = opened("shell: true\ncommand: ['printf \"ready 0\\n\" >&4; exit 3']");

    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), WEIR_END_CRASH);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "exit code 3");
    finish(kit);
}

static void test_child_that_is_not_ready_in_time_is_stopped(void)
{
    struct weir_kit *kit = opened("command: [sleep, '1000']\nstart_timeout: 2s\nopen_wait: 0s");

    weir_kit_advance(kit, 1999);
    CU_ASSERT_EQUAL(weir_kit_poll(kit), 0);
    weir_kit_advance(kit, 1);
    run_until(kit, has_ended);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "not ready in time");
    finish(kit);
}

static void test_time_out_stops_the_child(void)
{
    struct weir_kit *kit = worker("timeout: 1s\n" CHILD("sleep 1000"));

    begin(kit, "slow");
    weir_kit_advance(kit, 1000);
    run_until(kit, has_ended);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "time-out");
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "payload=slow"));
    finish(kit);
}

static void test_child_that_ignores_term_is_killed_after_the_grace(void)
{
    struct weir_kit *kit = worker(
        "timeout: 1s\ngrace: 3s\n" CHILD("trap '' TERM; say out x; while :; do :; done"));

    begin(kit, "slow");
    while (!weir_kit_emitted(kit, 0, 0))
        (void)weir_kit_poll(kit);
    weir_kit_advance(kit, 1000);
    weir_kit_advance(kit, 2999);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), -1);
    weir_kit_advance(kit, 1);
    run_until(kit, has_ended);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "time-out");
    finish(kit);
}

static void test_worker_that_failed_takes_no_message(void)
{
    struct weir_kit *kit = worker(CHILD("exit 3"));

    begin(kit, "x");
    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "y", 1), WEIR_POSTPONE);
    finish(kit);
}

/* --- what it prints, and limits --------------------------------------------------------------- */

static bool two_lines(struct weir_kit *kit)
{
    return weir_kit_log_count(kit) >= 2;
}

static void test_prints_go_to_the_log(void)
{
    struct weir_kit *kit = worker(CHILD("echo out; echo err >&2; say done"));

    give(kit, "x");
    run_until(kit, two_lines);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "child prints process="));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "line=out"));
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_INFO, "line=err"));
    finish(kit);
}

static void test_limits_are_those_of_the_child(void)
{
    struct weir_kit *kit = worker("files: 99\n" CHILD("say out $(ulimit -n); say done"));

    give(kit, "x");
    expect_output(kit, 0, "99");
    finish(kit);
}

static bool is_ready_or_has_ended(struct weir_kit *kit)
{
    return is_ready(kit) || has_ended(kit);
}

static void test_without_memory_the_worker_fails(void)
{
    uint32_t refused = 0, waited = 0, failed = 0, ready = 0;

    for (uint32_t nth = 1; ready == 0; nth++) {
        struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");

        weir_kit_fail_allocation(kit, nth);
        if (weir_kit_open_args(kit, "open_wait: 0s\n" CHILD("say done")) == 0) {
            bool waits = weir_kit_watch_count(kit) == 0; /* the child is started later */

            if (waits)
                weir_kit_advance(kit, 250);
            run_until(kit, is_ready_or_has_ended);
            waited += waits;
            failed += has_ended(kit);
            ready += !has_ended(kit) && !waits;
        } else {
            refused++;
        }
        finish(kit);
    }
    CU_ASSERT_TRUE(refused >= 2); /* two tags */
    CU_ASSERT_TRUE(waited >= 3);  /* three watches */
    CU_ASSERT_TRUE(failed >= 1);  /* the next watch of the frames */
}

static void test_memory_for_an_output_is_awaited(void)
{
    struct weir_kit *kit = worker(CHILD("say out x; say done"));

    begin(kit, "x");
    weir_kit_fail_allocation(kit, 1);
    while (weir_kit_watch_count(kit) == 3)
        (void)weir_kit_poll(kit);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    weir_kit_advance(kit, 100);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 0, "x");
    finish(kit);
}

static void test_program_that_is_missing_refuses_to_open(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "command: [no-such-program]"), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "no-such-program: No such file or directory");
    finish(kit);
}

static void test_wrong_options_are_named(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "pipe");

    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "command: ['']\ntag: ''"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "the first word is empty"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "a tag has 1 to 128 bytes"));
    finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one child", test_one_child_gets_all_messages },
        { "verdicts", test_verdicts_are_those_of_the_child },
        { "long reason", test_long_reason_is_cut },
        { "keys and tag", test_outputs_have_keys_and_the_tag_of_the_option },
        { "request", test_request_gets_the_reply },
        { "line of a file", test_line_of_a_file_is_the_payload },
        { "large payload", test_large_payload_comes_back_whole },
        { "output without room", test_output_without_room_holds_the_child_up },
        { "output again", test_output_is_tried_again_soon_and_then_more_seldom },
        { "output without memory", test_output_without_memory_counts_for_the_timeout },
        { "child that ends", test_child_that_ends_is_a_failure_with_its_message },
        { "payload in the log", test_payload_in_the_log_is_cut_and_printable },
        { "no frame", test_what_is_no_frame_is_a_failure },
        { "early verdict", test_verdict_before_the_end_of_the_message_is_a_failure },
        { "verdict, then the end", test_verdict_before_the_end_of_the_child_counts },
        { "end at once", test_child_that_ends_at_once_refuses_to_open },
        { "late", test_child_that_fails_late_or_writes_something_else_refuses_to_open },
        { "open_wait", test_without_open_wait_the_worker_fails_when_it_is_open },
        { "whatever its number", test_first_worker_waits_for_its_child_whatever_its_number },
        { "end when ready", test_child_that_ends_when_it_is_ready_is_a_failure_without_a_message },
        { "not ready in time", test_child_that_is_not_ready_in_time_is_stopped },
        { "time-out", test_time_out_stops_the_child },
        { "grace", test_child_that_ignores_term_is_killed_after_the_grace },
        { "failed worker", test_worker_that_failed_takes_no_message },
        { "prints", test_prints_go_to_the_log },
        { "limits", test_limits_are_those_of_the_child },
        { "memory is out", test_without_memory_the_worker_fails },
        { "memory for an output", test_memory_for_an_output_is_awaited },
        { "missing program", test_program_that_is_missing_refuses_to_open },
        { "wrong options", test_wrong_options_are_named },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec.pipe", tests);
}
