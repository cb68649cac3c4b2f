/* SPDX-License-Identifier: MIT */
/*
 * Goal:   with `frames: json` exec.pipe and its child exchange objects of JSON: texts as they are,
 *         other bytes as base64, with the effect of the frames of bytes. A line that is no frame,
 *         or longer than allowed, is a failure of the worker. Shows promise B14.
 * Method: children in Python, whose module `json` is a second opinion; the test kit is the host.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "exec_child.h"

extern const struct weir_plugin weir_plugin_v1;

/* A child that runs BODY for each message, an object `m`; `say` writes a frame. */
#define JSON_CHILD(body)                                                                           \
    "frames: json\n"                                                                               \
    "command:\n"                                                                                   \
    "  - python3\n"                                                                                \
    "  - -c\n"                                                                                     \
    "  - |\n"                                                                                      \
    "    import base64, json, os, time\n"                                                          \
    "    reader, writer = os.fdopen(3, 'r', encoding='utf-8'), os.fdopen(4, 'w')\n"                \
    "    def say(frame, **more):\n"                                                                \
    "        print(json.dumps({'frame': frame, **more}), file=writer, flush=True)\n"               \
    "    say('ready')\n"                                                                           \
    "    for line in reader:\n"                                                                    \
    "        m = json.loads(line)\n"                                                               \
    "        " body "\n"

static void test_texts_come_as_they_are(void)
{
    struct weir_kit *kit = worker(JSON_CHILD(
        "say('out', data=f\"{m['frame']} {m['attempt']} {m['tag']} {m['data']}\"); say('done')"));

    give(kit, "a \"b\" \\ \xc3\xa4\n\x01");
    expect_output(kit, 0, "message 1 text/1 a \"b\" \\ \xc3\xa4\n\x01");
    give(kit, "");
    expect_output(kit, 1, "message 1 text/1 ");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 2);
    finish(kit);
}

/* Many times the buffer of a socket, and of a pipe. */
static void test_bytes_come_back_whole(void)
{
    struct weir_kit *kit = worker(
        JSON_CHILD("d = base64.b64decode(m['base64']); "
                   "say('out', base64=base64.b64encode(d).decode()); say('done')"));
    size_t size = (size_t)1 << 20;
    char *bytes = malloc(size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    for (size_t count = 1; count <= 2; count++) {
        size -= 1; /* another padding */
        CU_ASSERT_EQUAL_FATAL(weir_kit_handle(kit, "text/1", bytes, size), WEIR_KEEP);
        flush(kit);
        run_until(kit, nothing_is_kept);
        CU_ASSERT_EQUAL_FATAL(weir_kit_emitted(kit, 0, count - 1)->size, size);
        CU_ASSERT_EQUAL(memcmp(weir_kit_emitted(kit, 0, count - 1)->data, bytes, size), 0);
    }
    free(bytes);
    finish(kit);
}

static void test_keys_are_whole(void)
{
    struct weir_kit *kit = worker(
        JSON_CHILD("say('out', data=m['key'], key=m['key']); say('out', data='', key=8); "
                   "say('done')"));
    struct weir_message like = { .data = (void *)(uintptr_t) "x",
                                 .size = 1,
                                 .key = UINT64_MAX,
                                 .kind = WEIR_MESSAGE,
                                 .attempt = 1 };

    CU_ASSERT_EQUAL_FATAL(weir_kit_deliver(kit, &like), WEIR_KEEP);
    flush(kit);
    run_until(kit, nothing_is_kept);
    expect_output(kit, 0, "18446744073709551615");
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->key, UINT64_MAX);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 1)->key, 8);
    finish(kit);
}

static void test_verdicts_are_those_of_the_child(void)
{
    struct weir_kit *kit = worker(
        JSON_CHILD("say('retry', data='l\xc3\xa4ter', ms=1500) if m['data'] == 'retry' else "
                   "say('reject', data='no good')"));

    give(kit, "retry");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "l\xc3\xa4ter");
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 1500);
    give(kit, "x");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "no good");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_RETRY), 1);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_REJECT), 1);
    finish(kit);
}

static void test_request_gets_the_reply(void)
{
    struct weir_kit *kit = worker(JSON_CHILD("say('reply', data=m['frame']); say('done')"));

    CU_ASSERT_EQUAL_FATAL(weir_kit_request(kit, "text/1", "x", 1), WEIR_KEEP);
    flush(kit);
    run_until(kit, nothing_is_kept);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weir_kit_replied(kit, 0));
    CU_ASSERT_EQUAL(weir_kit_replied(kit, 0)->size, strlen("request"));
    CU_ASSERT_EQUAL(memcmp(weir_kit_replied(kit, 0)->data, "request", 7), 0);
    finish(kit);
}

static void expect_failure(const char *args, const char *reason)
{
    struct weir_kit *kit = worker(args);

    begin(kit, "x");
    run_until(kit, has_ended);
    CU_ASSERT_EQUAL(weir_kit_own_end(kit), WEIR_END_CRASH);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), reason);
    finish(kit);
}

static void test_what_is_no_frame_is_a_failure(void)
{
    static const char *const none = "the child wrote no frame";

    expect_failure(JSON_CHILD("print('done 0', file=writer, flush=True); time.sleep(1000)"), none);
    expect_failure(JSON_CHILD("print('', file=writer, flush=True); time.sleep(1000)"), none);
    expect_failure(JSON_CHILD("say('out', text='x'); time.sleep(1000)"), none);
    expect_failure("frame_max: 10\n" JSON_CHILD("say('out', data='x' * 2000); time.sleep(1000)"),
                   none);
    expect_failure("frame_max: 10\n" JSON_CHILD("say('out', data='x' * 11); time.sleep(1000)"),
                   "a frame is larger than frame_max");
    expect_failure(JSON_CHILD("say('fail', data='disk is gone'); time.sleep(1000)"),
                   "disk is gone");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "texts", test_texts_come_as_they_are },
        { "bytes", test_bytes_come_back_whole },
        { "keys", test_keys_are_whole },
        { "verdicts", test_verdicts_are_those_of_the_child },
        { "reply", test_request_gets_the_reply },
        { "no frame", test_what_is_no_frame_is_a_failure },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec pipe json", tests);
}
