/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the lines of frames are read as plugins/exec/frame.h says, and nothing else is a frame.
 * Method: lines that are right, lines that are wrong in one place each, and random bytes, whose
 *         seed is printed first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/plugin.h>

#include "../../../plugins/exec/frame.h"
#include "../host/suite.h"

#define ROUNDS 200000u

static void expect(const char *line, enum frame_kind kind, uint64_t size, uint64_t number)
{
    struct frame frame = { .size = 77 };

    CU_ASSERT_TRUE_FATAL(frame_read(line, strlen(line), &frame));
    CU_ASSERT_EQUAL(frame.kind, kind);
    CU_ASSERT_EQUAL(frame.size, size);
    CU_ASSERT_EQUAL(frame.fields[kind == FRAME_RETRY ? FRAME_MS : FRAME_KEY], number);
}

static void test_frames_of_a_child_are_read(void)
{
    expect("ready 0", FRAME_READY, 0, 0);
    expect("out 12", FRAME_OUT, 12, 0);
    expect("out 12 345", FRAME_OUT, 12, 345);
    expect("reply 0", FRAME_REPLY, 0, 0);
    expect("done 0", FRAME_DONE, 0, 0);
    expect("stop 0", FRAME_STOP, 0, 0);
    expect("out 0 18446744073709551615", FRAME_OUT, 0, UINT64_MAX);
    expect("retry 3 1500", FRAME_RETRY, 3, 1500);
    expect("reject 1", FRAME_REJECT, 1, 0);
    expect("fail 9999999999999999999", FRAME_FAIL, 9999999999999999999u, 0);
}

#define BIT(field) (1u << (field))

static void test_frames_of_revision_2_are_read(void)
{
    static const struct {
        const char *line;
        struct frame frame;
    } rows[] = {
        { "ready 0 2",
          { .kind = FRAME_READY, .given = BIT(FRAME_REVISION), .fields[FRAME_REVISION] = 2 } },
        { "ready 0 2 64",
          { .kind = FRAME_READY,
            .given = BIT(FRAME_REVISION) | BIT(FRAME_BATCH_SIZE),
            .fields = { [FRAME_REVISION] = 2, [FRAME_BATCH_SIZE] = 64 } } },
        { "out 3 0 0", { .kind = FRAME_OUT, .size = 3, .given = BIT(FRAME_KEY) | BIT(FRAME_ID) } },
        { "out 3 5 7",
          { .kind = FRAME_OUT,
            .size = 3,
            .given = BIT(FRAME_KEY) | BIT(FRAME_ID),
            .fields = { [FRAME_KEY] = 5, [FRAME_ID] = 7 } } },
        { "reply 3 7",
          { .kind = FRAME_REPLY, .size = 3, .given = BIT(FRAME_ID), .fields[FRAME_ID] = 7 } },
        { "batch 0 64",
          { .kind = FRAME_BATCH, .given = BIT(FRAME_COUNT), .fields[FRAME_COUNT] = 64 } },
        { "keep 0 7", { .kind = FRAME_KEEP, .given = BIT(FRAME_ID), .fields[FRAME_ID] = 7 } },
        { "settle 0 7 done",
          { .kind = FRAME_SETTLE,
            .given = BIT(FRAME_ID) | BIT(FRAME_VERDICT),
            .fields = { [FRAME_ID] = 7, [FRAME_VERDICT] = WEIR_DONE } } },
        { "settle 2 7 retry 100",
          { .kind = FRAME_SETTLE,
            .size = 2,
            .given = BIT(FRAME_ID) | BIT(FRAME_VERDICT) | BIT(FRAME_MS),
            .fields = { [FRAME_ID] = 7, [FRAME_VERDICT] = WEIR_RETRY, [FRAME_MS] = 100 } } },
        { "settle 2 7 reject",
          { .kind = FRAME_SETTLE,
            .size = 2,
            .given = BIT(FRAME_ID) | BIT(FRAME_VERDICT),
            .fields = { [FRAME_ID] = 7, [FRAME_VERDICT] = WEIR_REJECT } } },
        { "log 5 warning",
          { .kind = FRAME_LOG,
            .size = 5,
            .given = BIT(FRAME_LEVEL),
            .fields[FRAME_LEVEL] = WEIR_LOG_WARNING } },
        { "label 4", { .kind = FRAME_LABEL, .size = 4 } },
        { "to 6", { .kind = FRAME_TO, .size = 6 } },
        { "result 6", { .kind = FRAME_RESULT, .size = 6 } },
        { "inspect 9", { .kind = FRAME_INSPECT, .size = 9 } },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct frame frame;

        CU_ASSERT_TRUE_FATAL(frame_read(rows[i].line, strlen(rows[i].line), &frame));
        CU_ASSERT_EQUAL(frame.kind, rows[i].frame.kind);
        CU_ASSERT_EQUAL(frame.size, rows[i].frame.size);
        CU_ASSERT_EQUAL(frame.given, rows[i].frame.given);
        CU_ASSERT_EQUAL(memcmp(frame.fields, rows[i].frame.fields, sizeof frame.fields), 0);
    }
}

static void test_other_lines_are_no_frames(void)
{
    static const char *const lines[] = {
        "",
        "ready",
        "ready ",
        "ready 1",
        "Ready 0",
        "read 0",
        "ready 0 1 2 3",
        "done 0 ",
        " done 0",
        "done  0",
        "done 0\r",
        "out",
        "out x",
        "out -1",
        "out 1 ",
        "out 1 -2",
        "out 1 2 3 4",
        "out 0x1",
        "reply 1 2 3",
        "reject 1 2",
        "retry 0",
        "retry 0 ",
        "retry 0 1ms",
        "done 1",
        "stop 2",
        "hello, world",
        "out 1\t2",
        "out 0 18446744073709551616",
        "batch 0",
        "batch 1 2",
        "keep 0",
        "keep 0 x",
        "settle 0 7",
        "settle 0 7 stop",
        "settle 0 7 retry",
        "settle 0 7 done 5",
        "settle 0 done 7",
        "log 5",
        "log 5 loud",
        "log 5 1",
        "label 5 1",
        "inspect 5 1",
        "to 5 1",
        "result 5 1",
    };
    struct frame frame = { .size = 77 };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CU_ASSERT_FALSE(frame_read(lines[i], strlen(lines[i]), &frame));
    CU_ASSERT_FALSE(frame_read("done 0\0", 7, &frame));
    CU_ASSERT_EQUAL(frame.size, 77);
}

/* A linear congruential generator; its upper bits. */
static size_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*seed >> 40);
}

static void test_random_lines_stay_within_their_bytes(void)
{
    static const char alphabet[] = "outredypjcfails 0123456789\n\0";
    uint64_t seed = (uint64_t)time(NULL);
    uint32_t frames = 0;

    (void)printf("seed %" PRIu64 " ", seed);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t size = next(&seed) % 12;
        char *line = malloc(size + 1); /* for AddressSanitizer */
        struct frame frame;

        CU_ASSERT_PTR_NOT_NULL_FATAL(line);
        for (size_t i = 0; i < size; i++)
            line[i] = alphabet[next(&seed) % (sizeof alphabet - 1)];
        frames += frame_read(line, size, &frame);
        free(line);
    }
    CU_ASSERT_TRUE(frames < ROUNDS);
}

static void test_message_is_written_with_its_tag_at_the_end(void)
{
    struct weir_tag tag = { "a tag/1" }, broken = { "a\nb" };
    struct weir_message message = { .tag = &tag, .key = UINT64_MAX, .attempt = 3 };
    char line[FRAME_LINE_MAX];
    size_t size = frame_write(line, sizeof line, &message, 0, 5);

    CU_ASSERT_EQUAL_FATAL(size, strlen("message 5 3 18446744073709551615 a tag/1\n"));
    CU_ASSERT_EQUAL(memcmp(line, "message 5 3 18446744073709551615 a tag/1\n", size), 0);
    message.kind = WEIR_REQUEST;
    message.tag = NULL;
    size = frame_write(line, sizeof line, &message, 0, 0);
    CU_ASSERT_EQUAL(memcmp(line, "request 0 3 18446744073709551615 \n", size), 0);
    size = frame_write(line, sizeof line, &message, 7, 0);
    CU_ASSERT_EQUAL(memcmp(line, "request 0 7 3 18446744073709551615 \n", size), 0);
    message.tag = &broken;
    CU_ASSERT_EQUAL(frame_write(line, sizeof line, &message, 0, 0), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "frames of a child", test_frames_of_a_child_are_read },
        { "revision 2", test_frames_of_revision_2_are_read },
        { "other lines", test_other_lines_are_no_frames },
        { "random lines", test_random_lines_stay_within_their_bytes },
        { "messages", test_message_is_written_with_its_tag_at_the_end },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec frame", tests);
}
