/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a child of exec.pipe of revision 3 gets many messages in a frame, settles one with its
 *         output by another, and rings when it has done several: the host reads seldom, and misses
 *         nothing.
 * Method: the test kit, whose clock stands still; children of the shell.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "exec_child.h"
#include "scratch.h"

/* A child that runs BODY for each message, with $kind, $sizes, $id, $key and $data, a line; and
 * AFTER for each frame. */
#define CHILD_3(ready, body, after)                                                                \
    "shell: true\n"                                                                                \
    "command:\n"                                                                                   \
    "  - |\n"                                                                                      \
    "    say() { echo \"$1 $(echo -n \"$2\" | wc -c)\" >&4; echo -n \"$2\" >&4; }\n"               \
    "    echo '" ready "' >&4\n"                                                                   \
    "    while read -r kind size id attempt key tag <&3; do\n"                                     \
    "      sizes=$size\n"                                                                          \
    "      [ $kind != messages ] || read -r sizes <&3\n"                                           \
    "      for size in $sizes; do\n"                                                               \
    "        read -r data <&3\n"                                                                   \
    "        " body "\n"                                                                           \
    "        id=$((id + 1))\n"                                                                     \
    "      done\n"                                                                                 \
    "      " after "\n"                                                                            \
    "    done\n"

#define WHOLE 4097u /* bytes of a payload that has its own frame */

static bool may_have_four(struct weir_kit *kit)
{
    return weir_kit_demand(kit) == 4;
}

/* A child that may have four messages: two came alone, and were quick. */
static struct weir_kit *quick_child(const char *args)
{
    struct weir_kit *kit = worker(args);

    give(kit, "x\n");
    give(kit, "x\n");
    run_until(kit, may_have_four);
    return kit;
}

static bool may_have_six(struct weir_kit *kit)
{
    return weir_kit_demand(kit) == 6;
}

/* A child that announces a batch of six. */
static struct weir_kit *batch_child(const char *args)
{
    struct weir_kit *kit = opened(args);

    run_until(kit, may_have_six);
    return kit;
}

static void deliver(struct weir_kit *kit, uint64_t key, uint16_t attempt)
{
    struct weir_message like = { .data = (void *)(uintptr_t) "keyed\n",
                                 .size = 6,
                                 .key = key,
                                 .kind = WEIR_MESSAGE,
                                 .attempt = attempt };

    CU_ASSERT_EQUAL_FATAL(weir_kit_deliver(kit, &like), WEIR_KEEP);
}

/* The verdicts of several messages are read in time, or after the bell. */
static void settle_all(struct weir_kit *kit, uint64_t step_ms)
{
    while (!nothing_is_kept(kit)) {
        weir_kit_advance(kit, step_ms);
        if (weir_kit_poll(kit) == 0)
            (void)poll(NULL, 0, 1);
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

static void test_messages_that_are_alike_share_a_frame(void)
{
    struct weir_kit *kit = quick_child(
        CHILD_3("ready 0 3", "say result \"$kind $id $sizes $data\"", "true"));

    gather(kit, "a\n");
    gather(kit, "two words\n");
    gather(kit, "\n");
    flush(kit);
    settle_all(kit, 1);
    expect_output(kit, 0, "message 1 2 x");
    expect_output(kit, 2, "messages 3 2 10 1 a");
    expect_output(kit, 3, "messages 4 2 10 1 two words");
    expect_output(kit, 4, "messages 5 2 10 1 ");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 5);
    finish(kit);
}

static void test_other_messages_have_their_own_frames(void)
{
    struct weir_kit *kit = batch_child(
        CHILD_3("ready 0 3 6", "say result \"$kind $id $attempt $key\"", "true"));
    char large[WHOLE + 1];

    memset(large, 'x', WHOLE);
    large[WHOLE - 1] = '\n';
    large[WHOLE] = '\0';
    gather(kit, "a\n");
    gather(kit, "b\n");
    deliver(kit, 7, 1);
    deliver(kit, 7, 2);
    gather(kit, large);
    gather(kit, "c\n");
    flush(kit);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 0, "messages 1 1 0");
    expect_output(kit, 1, "messages 2 1 0");
    expect_output(kit, 2, "message 3 1 7");
    expect_output(kit, 3, "message 4 2 7");
    expect_output(kit, 4, "message 5 1 0");
    expect_output(kit, 5, "message 6 1 0");
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 2)->key, 7);
    finish(kit);
}

static bool may_have_eighteen(struct weir_kit *kit)
{
    return weir_kit_demand(kit) == 18;
}

/* A child begins when it has the whole frame. */
static void test_frame_of_many_has_64_kib(void)
{
    struct weir_kit *kit = opened(
        CHILD_3("ready 0 3 18", "say result \"$id $first\"; first=", "first=first"));
    char large[WHOLE];

    run_until(kit, may_have_eighteen);
    memset(large, 'x', sizeof large);
    large[WHOLE - 2] = '\n';
    large[WHOLE - 1] = '\0';
    for (uint32_t i = 0; i < 18; i++)
        gather(kit, large);
    flush(kit);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 15, "16 ");
    expect_output(kit, 16, "17 first");
    expect_output(kit, 17, "18 ");
    finish(kit);
}

static void test_request_is_no_message_of_many(void)
{
    struct weir_kit *kit = batch_child(CHILD_3(
        "ready 0 3 6", "[ $kind = request ] && say reply \"$id\"; echo 'done 0' >&4", "true"));

    gather(kit, "a\n");
    CU_ASSERT_EQUAL_FATAL(weir_kit_request(kit, "text/1", "b\n", 2), WEIR_KEEP);
    for (uint32_t i = 2; i < 6; i++)
        gather(kit, "c\n");
    flush(kit);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_replied(kit, 0));
    CU_ASSERT_EQUAL(memcmp(weir_kit_replied(kit, 0)->data, "2", 1), 0);
    finish(kit);
}

static void test_result_out_of_place_is_a_failure(void)
{
    static const struct {
        const char *args, *reason;
    } rows[] = {
        { CHILD_3("ready 0 2", "say result x", "sleep 1000"), "a frame of revision 3" },
        { CHILD_3("ready 0 3", "say result x; say result x", "sleep 1000"),
          "a verdict for no message" },
        { "frame_max: 8\n" CHILD_3("ready 0 3", "say result 123456789", "sleep 1000"),
          "a frame is larger than frame_max" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weir_kit *kit = worker(rows[i].args);

        begin(kit, "x\n");
        run_until(kit, has_ended);
        CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), rows[i].reason);
        finish(kit);
    }
}

/* A child that answers what was not written. */
static void test_message_without_a_frame_has_no_verdict(void)
{
    struct weir_kit *kit = quick_child(
        CHILD_3("ready 0 3", "echo 'done 0' >&4; [ $data != two ] || echo 'done 0' >&4", "true"));

    begin(kit, "two\n");
    gather(kit, "x\n");
    run_until(kit, has_ended);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "a verdict before its message was written");
    CU_ASSERT_EQUAL(weir_kit_put_back_count(kit), 1);
    finish(kit);
}

/* Those that are not written go back, too. promise B65 */
static void test_messages_without_a_frame_go_back(void)
{
    struct weir_kit *kit = quick_child(
        CHILD_3("ready 0 3", "[ $data = x ] || kill -9 $$; echo 'done 0' >&4", "true"));

    begin(kit, "end\n");
    gather(kit, "x\n");
    gather(kit, "x\n");
    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_put_back_count(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 1);
    finish(kit);
}

/* --- the bell --------------------------------------------------------------------------------- */

static bool has_settled_one_of_three(struct weir_kit *kit)
{
    return weir_kit_kept_count(kit) == 2;
}

/* The child settles the first of three messages, and the others when it may. The host waits for the
 * bell meanwhile: the watches are those of the end, of what the child prints, and of the bell. */
static void expect_rest(const char *bell, uint64_t step_ms)
{
    struct scratch scratch;
    struct weir_kit *kit;
    char args[2048];

    scratch_init(&scratch);
    (void)snprintf(
        args, sizeof args,
        CHILD_3("ready 0 3",
                "echo 'done 0' >&4; [ $id != 3 ] || until [ -e %s ]; do sleep 0.01; done",
                "[ $kind = message ] || %s"),
        scratch_path(&scratch, "go"), bell);
    kit = quick_child(args);
    for (uint32_t i = 0; i < 3; i++)
        gather(kit, "x\n");
    flush(kit);
    run_until(kit, has_settled_one_of_three);
    CU_ASSERT_EQUAL(weir_kit_watch_count(kit), 3);
    (void)scratch_write(&scratch, "go", "");
    settle_all(kit, step_ms);
    finish(kit);
    scratch_finish(&scratch);
}

/* promise B125 */
static void test_verdicts_are_read_after_the_bell(void)
{
    expect_rest("echo >&3", 0);
}

/* promise B125 */
static void test_verdicts_are_read_soon_without_a_bell(void)
{
    expect_rest("true", 1);
}

/* More bytes than its socket holds. */
static void test_child_with_a_batch_may_ring(void)
{
    struct weir_kit *kit = worker(CHILD_3("ready 0 3 1",
                                          "[ $kind != close ] || exit 0; i=0;"
                                          " while [ $i -lt 2000 ]; do echo >&3; i=$((i + 1)); done;"
                                          " say result x",
                                          "true"));

    give(kit, "x\n");
    finish(kit);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "alike", test_messages_that_are_alike_share_a_frame },
        { "others", test_other_messages_have_their_own_frames },
        { "64 KiB", test_frame_of_many_has_64_kib },
        { "request", test_request_is_no_message_of_many },
        { "wrong result", test_result_out_of_place_is_a_failure },
        { "no frame yet", test_message_without_a_frame_has_no_verdict },
        { "put back", test_messages_without_a_frame_go_back },
        { "bell", test_verdicts_are_read_after_the_bell },
        { "no bell", test_verdicts_are_read_soon_without_a_bell },
        { "bell of a batch", test_child_with_a_batch_may_ring },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec.pipe many", tests);
}
