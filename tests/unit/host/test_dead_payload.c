/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the payload of a dead letter is shown as people read it: with what the layout of a
 *         bundled plugin says, without a byte that controls a terminal, and of a bounded length.
 * Method: payloads made with the headers of the plugins; those of other sizes; each length around
 *         the bounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dead/dead_payload.h"
#include "plugins/files/files.h"
#include "plugins/gen/gen.h"
#include "plugins/http/http.h"
#include "plugins/integrity/integrity.h"
#include "unit/host/suite.h"

/* Returns owned. */
static char *shown(const char *tag, const void *bytes, size_t size, bool as_json)
{
    const struct dead_payload payload = {
        .tag = tag, .bytes = bytes, .size = size, .is_kept = true
    };
    char *text = NULL;
    size_t text_size = 0;
    FILE *stream = open_memstream(&text, &text_size);
    struct json json;

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    if (as_json) {
        json_init(&json, stream);
        json_begin_object(&json, NULL);
        dead_payload_json(&json, &payload);
        json_end(&json);
        json_finish(&json);
    } else {
        dead_payload_print(stream, &payload);
    }
    CU_ASSERT_EQUAL_FATAL(fclose(stream), 0);
    return text;
}

static void expect(const char *tag, const void *bytes, size_t size, const char *expected)
{
    char *exact = malloc(size), *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
    memcpy(exact, bytes, size); /* a sanitizer sees a read beyond it */
    text = shown(tag, exact, size, false);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        (void)fprintf(stderr, "%s\n", text);
    free(text);
    free(exact);
}

/* --- layouts ---------------------------------------------------------------------------------- */

static size_t make_line(char *out, uint32_t name_size, uint32_t line_size)
{
    const struct files_line head = { name_size, line_size, 17, 200 };

    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, "/a\033b", 5);
    memcpy(out + sizeof head + 5, "x\ty", 4);
    return sizeof head + 9;
}

static void test_line_of_a_file_names_file_and_line(void)
{
    static const uint32_t wrong[][2] = { { 4, 2 },          { 3, 4 },          { 5, 2 },
                                         { UINT32_MAX, 3 }, { 4, UINT32_MAX }, { UINT32_MAX, 8 } };
    char bytes[64], *text;
    size_t size = make_line(bytes, 4, 3);

    expect(FILES_LINE_TAG, bytes, size,
           "  files.line/1, 33 bytes: line 17 of /a\\x1bb, from byte 200\n  | x\\ty\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size = make_line(bytes, wrong[i][0], wrong[i][1]);
        text = shown(FILES_LINE_TAG, bytes, size, false);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "33 bytes: not the layout of this tag\n  | "));
        free(text);
    }
    for (size = 1; size < 26; size++) {
        memset(bytes, 'a', sizeof bytes);
        text = shown(FILES_LINE_TAG, bytes, size, false);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "not the layout of this tag"));
        free(text);
    }
}

static void test_results_of_other_plugins_are_named(void)
{
    const struct gen_number number = { 12345678901u };
    const struct integrity_result result = { INTEGRITY_MISSING, 2, 99, 4, 7 };
    char bytes[sizeof result + 13];

    memcpy(bytes, &result, sizeof result);
    memcpy(bytes + sizeof result, "bash\0bin/one", 13);
    expect(GEN_NUMBER_TAG, &number, sizeof number, "  gen.number/1, 8 bytes: number 12345678901\n");
    expect(GEN_NUMBER_TAG, "abc", 3,
           "  gen.number/1, 3 bytes: not the layout of this tag\n  | abc\n");
    expect(INTEGRITY_RESULT_TAG, bytes, sizeof bytes,
           "  integrity.result/1, 37 bytes: missing, package bash, 99 bytes read, the path is\n"
           "  | bin/one\n");
}

static void test_http_shows_line_and_size_of_the_body(void)
{
    expect(HTTP_REQUEST_TAG, "POST /p?a=1\nx-a: b\n\nhi\n", 23,
           "  http.request/1, 23 bytes: POST /p?a=1, body of 3 bytes\n"
           "  | POST /p?a=1\n  | x-a: b\n  | \n  | hi\n");
    expect(HTTP_RESPONSE_TAG, "404\n\n", 5,
           "  http.response/1, 5 bytes: 404, body of 0 bytes\n  | 404\n  | \n");
    expect(HTTP_REQUEST_TAG, "POST /p", 7,
           "  http.request/1, 7 bytes: not the layout of this tag\n  | POST /p\n");
}

/* --- texts ------------------------------------------------------------------------------------ */

static void test_other_payloads_are_text(void)
{
    expect("exec.output/1", "one\ntwo", 7, "  exec.output/1, 7 bytes\n  | one\n  | two\n");
    expect("", "caf\303\251 \303 \0\r\n\033[2J\342\200\256", 18,
           "  no tag, 18 bytes\n  | caf\303\251 \\xc3 \\x00\\r\n  | \\x1b[2J\\xe2\\x80\\xae\n");
    expect("a\nb/1", "", 0, "  a\\nb/1, 0 bytes\n");
}

static void test_length_is_bounded_and_said(void)
{
    char bytes[5000], *text;

    for (size_t size = DEAD_PAYLOAD_SHOWN - 4; size < DEAD_PAYLOAD_SHOWN + 4; size++) {
        char more[64];

        memset(bytes, 'x', sizeof bytes);
        text = shown("t/1", bytes, size, false);
        (void)snprintf(more, sizeof more, "  %zu more %s not shown", size - DEAD_PAYLOAD_SHOWN,
                       size == DEAD_PAYLOAD_SHOWN + 1 ? "byte is" : "bytes are");
        CU_ASSERT_EQUAL(strstr(text, " more byte") != NULL, size > DEAD_PAYLOAD_SHOWN);
        CU_ASSERT_TRUE(size <= DEAD_PAYLOAD_SHOWN || strstr(text, more) != NULL);
        free(text);
    }
    memset(bytes, '\n', sizeof bytes);
    text = shown("t/1", bytes, 100, false);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  60 more bytes are not shown; --export has all\n"));
    free(text);
    for (size_t i = 0; i < sizeof bytes - 1; i += 2)
        memcpy(bytes + i, "\303\251", 2); /* no character is cut */
    text = shown("t/1", bytes, 4999, false);
    CU_ASSERT_PTR_NULL(strstr(text, "\\x"));
    free(text);
}

static void test_json_has_the_same(void)
{
    char bytes[64], *text = shown(FILES_LINE_TAG, bytes, make_line(bytes, 4, 3), true);

    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"about\": \"line 17 of /a\\\\x1bb, from byte 200\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"text\": \"x\\\\ty\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"text_cut\": 0"));
    free(text);
}

int main(void)
{
    static CU_TestInfo tests[] = {
        { "line of a file", test_line_of_a_file_names_file_and_line },
        { "other plugins", test_results_of_other_plugins_are_named },
        { "HTTP", test_http_shows_line_and_size_of_the_body },
        { "other payloads", test_other_payloads_are_text },
        { "bounds", test_length_is_bounded_and_said },
        { "JSON", test_json_has_the_same },
        CU_TEST_INFO_NULL,
    };

    return suite_run("dead_payload", tests);
}
