/* SPDX-License-Identifier: MIT */
/*
 * Goal:   frames of JSON are read and written as plugins/exec/json_frame.h says, and nothing else
 *         is a frame. Shows promise B14.
 * Method: lines that are right, lines that are wrong in one place each, random bytes, and random
 *         payloads that are written and read again; the seed is printed first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../plugins/exec/base64.h"
#include <weir/plugin.h>

#include "../../../plugins/exec/json_frame.h"
#include "../../../plugins/exec/json_text.h"
#include "../host/suite.h"

#define ROUNDS 100000u

/* A copy without NUL, for AddressSanitizer. */
static char *copy(const char *line, size_t size)
{
    char *bytes = malloc(size + (size == 0));

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    if (size > 0)
        memcpy(bytes, line, size);
    return bytes;
}

static void expect(const char *line, enum frame_kind kind, uint64_t number, const char *bytes,
                   size_t size)
{
    char *read = copy(line, strlen(line));
    struct frame frame = { .size = 77 };
    const char *found;

    CU_ASSERT_TRUE_FATAL(json_frame_read(read, strlen(line), &frame, &found));
    CU_ASSERT_EQUAL(frame.kind, kind);
    CU_ASSERT_EQUAL(frame.fields[kind == FRAME_RETRY ? FRAME_MS : FRAME_KEY], number);
    CU_ASSERT_EQUAL_FATAL(frame.size, size);
    CU_ASSERT_TRUE(size == 0 || memcmp(found, bytes, size) == 0);
    free(read);
}

static void test_frames_of_a_child_are_read(void)
{
    expect("{\"frame\":\"ready\"}", FRAME_READY, 0, "", 0);
    expect(" { \"frame\" : \"out\" , \"data\" : \"hello\" } \r", FRAME_OUT, 0, "hello", 5);
    expect("{\"data\":\"\",\"key\":\"18446744073709551615\",\"frame\":\"out\"}", FRAME_OUT,
           UINT64_MAX, "", 0);
    expect("{\"frame\":\"out\",\"base64\":\"AP/+\",\"key\":8}", FRAME_OUT, 8, "\0\xff\xfe", 3);
    expect("{\"frame\":\"reply\",\"base64\":\"AA==\"}", FRAME_REPLY, 0, "\0", 1);
    expect("{\"frame\":\"reply\",\"base64\":\"QUI=\"}", FRAME_REPLY, 0, "AB", 2);
    expect("{\"frame\":\"done\"}", FRAME_DONE, 0, "", 0);
    expect("{\"frame\":\"stop\"}", FRAME_STOP, 0, "", 0);
    expect("{\"frame\":\"retry\",\"ms\":1500,\"data\":\"later\"}", FRAME_RETRY, 1500, "later", 5);
    expect("{\"frame\":\"reject\",\"data\":\"no\"}", FRAME_REJECT, 0, "no", 2);
    expect("{\"frame\":\"f\\u0061il\"}", FRAME_FAIL, 0, "", 0);
}

static void test_members_of_revision_2_are_read(void)
{
    static const struct {
        const char *line;
        enum frame_kind kind;
        enum frame_field field;
        uint64_t value;
    } rows[] = {
        { "{\"frame\":\"ready\",\"revision\":2}", FRAME_READY, FRAME_REVISION, 2 },
        { "{\"frame\":\"ready\",\"revision\":2,\"batch\":64}", FRAME_READY, FRAME_BATCH_SIZE, 64 },
        { "{\"frame\":\"out\",\"key\":\"0\",\"id\":\"7\"}", FRAME_OUT, FRAME_ID, 7 },
        { "{\"frame\":\"out\",\"id\":0}", FRAME_OUT, FRAME_ID, 0 },
        { "{\"frame\":\"reply\",\"id\":7}", FRAME_REPLY, FRAME_ID, 7 },
        { "{\"frame\":\"batch\",\"count\":3}", FRAME_BATCH, FRAME_COUNT, 3 },
        { "{\"frame\":\"keep\",\"id\":\"7\"}", FRAME_KEEP, FRAME_ID, 7 },
        { "{\"frame\":\"settle\",\"id\":7,\"verdict\":\"reject\"}", FRAME_SETTLE, FRAME_VERDICT,
          WEIR_REJECT },
        { "{\"frame\":\"settle\",\"id\":7,\"verdict\":\"retry\",\"ms\":9}", FRAME_SETTLE, FRAME_MS,
          9 },
        { "{\"frame\":\"log\",\"level\":\"error\",\"data\":\"x\"}", FRAME_LOG, FRAME_LEVEL,
          WEIR_LOG_ERROR },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *line = copy(rows[i].line, strlen(rows[i].line));
        struct frame frame;
        const char *bytes;

        CU_ASSERT_TRUE_FATAL(json_frame_read(line, strlen(rows[i].line), &frame, &bytes));
        CU_ASSERT_EQUAL(frame.kind, rows[i].kind);
        CU_ASSERT_TRUE(frame_has(&frame, rows[i].field));
        CU_ASSERT_EQUAL(frame.fields[rows[i].field], rows[i].value);
        free(line);
    }
}

static void test_escapes_are_their_characters(void)
{
    expect("{\"frame\":\"out\",\"data\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", FRAME_OUT, 0,
           "\"\\/\b\f\n\r\t", 8);
    expect("{\"frame\":\"out\",\"data\":\"\\u0000\\u007f\\u0080\\u07ff\\u0800\\uFFFF\"}", FRAME_OUT,
           0, "\0\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", 12);
    expect("{\"frame\":\"out\",\"data\":\"\\ud83d\\ude00 \xc3\xa4\"}", FRAME_OUT, 0,
           "\xf0\x9f\x98\x80 \xc3\xa4", 7);
}

static void test_other_lines_are_no_frames(void)
{
    static const char *const lines[] = {
        "",
        "{}",
        "[]",
        "done 0",
        "{\"frame\":\"done\"",
        "{\"frame\":\"done\",}",
        "{\"frame\":\"done\"}x",
        "{\"frame\":\"done\"} {}",
        "{\"frame\":done}",
        "{\"frame\":\"gone\"}",
        "{\"frame\":\"\"}",
        "{\"frame\":5}",
        "{\"data\":\"x\"}",
        "{\"frame\":\"done\",\"frame\":\"done\"}",
        "{\"frame\":\"done\",\"data\":\"x\"}",
        "{\"frame\":\"done\",\"key\":\"1\"}",
        "{\"frame\":\"out\",\"text\":\"x\"}",
        "{\"frame\":\"out\",\"data\":null}",
        "{\"frame\":\"out\",\"data\":{\"a\":1}}",
        "{\"frame\":\"out\",\"data\":\"x\",\"base64\":\"\"}",
        "{\"frame\":\"out\",\"key\":\"18446744073709551616\"}",
        "{\"frame\":\"out\",\"key\":-1}",
        "{\"frame\":\"out\",\"key\":1.5}",
        "{\"frame\":\"out\",\"ms\":1}",
        "{\"frame\":\"retry\"}",
        "{\"frame\":\"retry\",\"ms\":1,\"key\":1}",
        "{\"frame\":\"out\",\"data\":\"\t\"}",
        "{\"frame\":\"out\",\"data\":\"\\x\"}",
        "{\"frame\":\"out\",\"data\":\"\\u12\"}",
        "{\"frame\":\"out\",\"data\":\"\\u12g4\"}",
        "{\"frame\":\"out\",\"data\":\"\\ud83d\"}",
        "{\"frame\":\"out\",\"data\":\"\\ud83dx\\ude00\"}",
        "{\"frame\":\"out\",\"data\":\"\\ude00\"}",
        "{\"frame\":\"out\",\"base64\":\"AAA\"}",
        "{\"frame\":\"out\",\"base64\":\"A===\"}",
        "{\"frame\":\"out\",\"base64\":\"AA==AAAA\"}",
        "{\"frame\":\"out\",\"base64\":\"AA-A\"}",
        "{\"frame\":\"keep\"}",
        "{\"frame\":\"batch\",\"batch\":3}",
        "{\"frame\":\"log\",\"level\":\"loud\"}",
        "{\"frame\":\"settle\",\"id\":7}",
        "{\"frame\":\"settle\",\"id\":7,\"verdict\":\"retry\"}",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *line = copy(lines[i], strlen(lines[i]));
        struct frame frame = { .size = 77 };
        const char *bytes;

        CU_ASSERT_FALSE(json_frame_read(line, strlen(lines[i]), &frame, &bytes));
        CU_ASSERT_EQUAL(frame.size, 77);
        free(line);
    }
}

/* A linear congruential generator; its upper bits. */
static size_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*seed >> 40);
}

static uint64_t print_seed(void)
{
    uint64_t seed = (uint64_t)time(NULL);

    (void)printf("seed %" PRIu64 " ", seed);
    return seed;
}

static void test_random_lines_stay_within_their_bytes(void)
{
    static const char *const parts[] = { "{",     "}",          "\"", ":",      ",",       "frame",
                                         "out",   "\"base64\"", "\\", "\\ud8",  "\\u00e4", "7",
                                         "retry", "\"ms\":",    " ",  "\"key\"" };
    uint64_t seed = print_seed();
    uint32_t frames = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        char text[256] = "{\"frame\":\"";
        size_t size = next(&seed) % 2 ? strlen(text) : 0;
        const char *bytes;
        struct frame frame;
        char *line;

        for (size_t i = next(&seed) % 12; i > 0; i--) {
            const char *part = parts[next(&seed) % (sizeof parts / sizeof *parts)];

            memcpy(text + size, part, strlen(part));
            size += strlen(part);
        }
        line = copy(text, size);
        frames += json_frame_read(line, size, &frame, &bytes);
        free(line);
    }
    CU_ASSERT_TRUE(frames < ROUNDS);
}

static void expect_written(const struct weir_message *message, const char *payload, size_t size,
                           const char *text)
{
    size_t written;
    char *line = json_frame_write(message, 0, payload, size, &written);

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_EQUAL_FATAL(written, strlen(text));
    CU_ASSERT_EQUAL(memcmp(line, text, written), 0);
    free(line);
}

static void test_messages_are_written(void)
{
    struct weir_tag tag = { "a \"tag\"\n" };
    struct weir_message message = { .tag = &tag, .key = UINT64_MAX, .attempt = 3 };

    expect_written(&message, "a\"b\\c\nd\x1f\xc3\xa4\0", 11,
                   "{\"frame\":\"message\",\"attempt\":3,\"key\":\"18446744073709551615\","
                   "\"tag\":\"a \\\"tag\\\"\\n\","
                   "\"data\":\"a\\\"b\\\\c\\nd\\u001f\xc3\xa4\\u0000\"}\n");
    message = (struct weir_message){ .kind = WEIR_REQUEST, .attempt = 1 };
    expect_written(&message, "\xff\0", 2,
                   "{\"frame\":\"request\",\"attempt\":1,\"key\":\"0\",\"tag\":\"\","
                   "\"base64\":\"/wA=\"}\n");
    expect_written(&message, "", 0,
                   "{\"frame\":\"request\",\"attempt\":1,\"key\":\"0\",\"tag\":\"\","
                   "\"data\":\"\"}\n");
}

static void test_what_is_utf8(void)
{
    static const char *const good[] = { "",
                                        "a",
                                        "\x7f",
                                        "\xc2\x80",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf" };
    static const char *const bad[] = { "\x80",
                                       "\xc0\x80",
                                       "\xc2",
                                       "\xe0\x9f\xbf",
                                       "\xed\xa0\x80",
                                       "\xf0\x8f\xbf\xbf",
                                       "\xe2\x82",
                                       "\xf4\x90\x80\x80",
                                       "\xff",
                                       "a\xc3(",
                                       "\xf8\x88\x80\x80\x80" };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CU_ASSERT_TRUE(json_text_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_FALSE(json_text_is_utf8(bad[i], strlen(bad[i])));
}

/* As a child would read and write them. */
static void test_random_bytes_come_back(void)
{
    uint64_t seed = print_seed();
    unsigned char payload[24];
    char text[2 * 24 * 6];
    char *at = text, *found;

    for (uint32_t round = 0; round < ROUNDS / 10; round++) {
        size_t size = next(&seed) % (sizeof payload + 1), got;

        for (size_t i = 0; i < size; i++)
            payload[i] = (unsigned char)next(&seed);
        base64_write(text, payload, size);
        CU_ASSERT_TRUE_FATAL(base64_read(text, base64_size(size), &got));
        CU_ASSERT_TRUE_FATAL(got == size && memcmp(text, payload, size) == 0);
        for (size_t i = 0; i < size; i++)
            payload[i] &= 0x7f;
        json_text_write(text, (const char *)payload, size);
        got = json_text_size((const char *)payload, size);
        text[got] = '"';
        at = text;
        CU_ASSERT_TRUE_FATAL(json_text_read(&at, text + got + 1, &found, &got));
        CU_ASSERT_TRUE_FATAL(got == size && memcmp(found, payload, size) == 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "frames of a child", test_frames_of_a_child_are_read },
        { "revision 2", test_members_of_revision_2_are_read },
        { "escapes", test_escapes_are_their_characters },
        { "other lines", test_other_lines_are_no_frames },
        { "random lines", test_random_lines_stay_within_their_bytes },
        { "messages", test_messages_are_written },
        { "utf-8", test_what_is_utf8 },
        { "random bytes", test_random_bytes_come_back },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin exec json frame", tests);
}
