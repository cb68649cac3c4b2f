/* SPDX-License-Identifier: MIT */
/*
 * Goal: integrity.md5 emits for each line whether the file is ok, changed, missing or unreadable,
 * once, at the right output; it rejects and reports other lines.
 * Method: a root of the test's own with files of known sums; the kit delivers lines and refuses
 * results at a chosen moment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../../../plugins/files/files.h"
#include "../../../plugins/integrity/integrity.h"
#include "../host/suite.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

#define SUM_EMPTY "d41d8cd98f00b204e9800998ecf8427e"
#define SUM_ABC "900150983cd24fb0d6963f7d28e17f72"   /* RFC 1321: "abc" */
#define SUM_ZEROS "4a21de7a58fb8ecb9a1b1f08a3068269" /* 300,000 zero bytes */
#define ZEROS 300000u
#define LIST "/lists/some-package:amd64.md5sums"

struct bench {
    struct scratch scratch;
    struct weir_kit *kit;
};

static void begin(struct bench *bench)
{
    scratch_init(&bench->scratch);
    bench->kit = weir_kit_create(&weir_plugin_v1, "md5");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(bench->kit, "root: %s", bench->scratch.path), 0);
}

static void finish(struct bench *bench)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(bench->kit), 0);
    scratch_finish(&bench->scratch);
}

/* Hands over a line of a list. Returns the verdict. */
static int give_again(struct bench *bench, const char *list, const char *text, uint16_t attempt)
{
    size_t name_size = strlen(list);
    size_t line_size = strlen(text);
    size_t size = sizeof(struct files_line) + name_size + line_size + 2;
    struct files_line *line = calloc(1, size);
    const struct weir_message message = {
        .data = line,
        .size = size,
        .tag = weir_kit_tag(bench->kit, FILES_LINE_TAG),
        .attempt = attempt,
    };
    int verdict;

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    line->name_size = (uint32_t)name_size;
    line->line_size = (uint32_t)line_size;
    line->number = 7;
    memcpy(line + 1, list, name_size);
    memcpy((char *)(line + 1) + name_size + 1, text, line_size);
    verdict = weir_kit_deliver(bench->kit, &message);
    free(line);
    return verdict;
}

/* Without a NUL behind a text its reader would go on beyond the payload. */
static void test_line_with_false_sizes_is_none(void)
{
    static const struct {
        uint32_t name_size, line_size;
        const char *bytes; /* of 8 */
    } rows[] = {
        { 3, 3, "abcdefg" },           { 3, 3, "abc\0def!" }, { 3, 3, "abcddef" },
        { 4, 3, "abcd\0ef" },          { 2, 3, "ab\0cde\0" }, { 0xffffffff, 7, "abc\0def" },
        { 3, 0xffffffff, "abc\0def" },
    };
    struct {
        struct files_line line;
        char bytes[8];
    } payload;
    struct bench bench;

    begin(&bench);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        payload.line = (struct files_line){ rows[i].name_size, rows[i].line_size, 1, 0 };
        memcpy(payload.bytes, rows[i].bytes, sizeof payload.bytes);
        CU_ASSERT_EQUAL(
            weir_kit_handle(bench.kit, FILES_LINE_TAG, &payload, sizeof payload.line + 8),
            WEIR_REJECT);
        CU_ASSERT_STRING_EQUAL(weir_kit_reason(bench.kit), "not a " FILES_LINE_TAG);
    }
    finish(&bench);
}

static int give(struct bench *bench, const char *text)
{
    return give_again(bench, LIST, text, 1);
}

static const struct integrity_result *last_result(const struct bench *bench)
{
    const struct weir_kit *kit = bench->kit;
    const struct integrity_result *result;

    CU_ASSERT_FATAL(weir_kit_sent_count(kit) > 0);
    result = integrity_result_get(weir_kit_sent(kit, weir_kit_sent_count(kit) - 1)->message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, weir_kit_sent_count(kit) - 1)->output, result->verdict);
    return result;
}

static void expect(struct bench *bench, const char *line, enum integrity_verdict verdict, int error)
{
    size_t before = weir_kit_sent_count(bench->kit);
    const struct integrity_result *result;

    CU_ASSERT_EQUAL(give(bench, line), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(bench->kit), before + 1);
    result = last_result(bench);
    CU_ASSERT_EQUAL(result->verdict, (uint32_t)verdict);
    CU_ASSERT_EQUAL(result->error, error);
}

static void test_unchanged_file_is_ok(void)
{
    struct bench bench;
    const struct integrity_result *result;

    begin(&bench);
    (void)scratch_write(&bench.scratch, "abc", "abc");
    (void)scratch_write(&bench.scratch, "empty", "");
    expect(&bench, SUM_EMPTY "  empty", INTEGRITY_OK, 0);
    expect(&bench, SUM_ABC "  abc", INTEGRITY_OK, 0);
    result = last_result(&bench);
    CU_ASSERT_EQUAL(result->bytes, 3);
    CU_ASSERT_STRING_EQUAL(integrity_result_package(result), "some-package:amd64");
    CU_ASSERT_STRING_EQUAL(integrity_result_path(result), scratch_path(&bench.scratch, "abc"));
    CU_ASSERT_EQUAL(weir_kit_done(bench.kit, "files"), 2);
    CU_ASSERT_EQUAL(weir_kit_done(bench.kit, "bytes"), 3);
    finish(&bench);
}

static void test_file_larger_than_the_buffer_is_read_whole(void)
{
    struct bench bench;
    char *zeros = calloc(1, ZEROS);

    CU_ASSERT_PTR_NOT_NULL_FATAL(zeros);
    begin(&bench);
    (void)scratch_write_size(&bench.scratch, "zeros", zeros, ZEROS);
    expect(&bench, SUM_ZEROS "  zeros", INTEGRITY_OK, 0);
    CU_ASSERT_EQUAL(last_result(&bench)->bytes, ZEROS);
    zeros[ZEROS - 1] = 1;
    (void)scratch_write_size(&bench.scratch, "zeros", zeros, ZEROS);
    expect(&bench, SUM_ZEROS "  zeros", INTEGRITY_CHANGED, 0);
    free(zeros);
    finish(&bench);
}

static void test_other_content_is_changed(void)
{
    struct bench bench;

    begin(&bench);
    (void)scratch_write(&bench.scratch, "abc", "abd");
    expect(&bench, SUM_ABC "  abc", INTEGRITY_CHANGED, 0);
    (void)scratch_write(&bench.scratch, "abc", "abc\n");
    expect(&bench, SUM_ABC "  abc", INTEGRITY_CHANGED, 0);
    (void)scratch_write(&bench.scratch, "abc", "");
    expect(&bench, SUM_ABC "  abc", INTEGRITY_CHANGED, 0);
    finish(&bench);
}

static void test_absent_file_is_missing(void)
{
    struct bench bench;

    begin(&bench);
    (void)scratch_write(&bench.scratch, "file", "");
    CU_ASSERT_EQUAL(symlink("nowhere", scratch_path(&bench.scratch, "dangling")), 0);
    expect(&bench, SUM_ABC "  none", INTEGRITY_MISSING, ENOENT);
    expect(&bench, SUM_ABC "  no/such/directory", INTEGRITY_MISSING, ENOENT);
    expect(&bench, SUM_ABC "  file/below", INTEGRITY_MISSING, ENOTDIR);
    expect(&bench, SUM_ABC "  dangling", INTEGRITY_MISSING, ENOENT);
    finish(&bench);
}

static void test_what_is_no_regular_file_is_unreadable_at_once(void)
{
    struct bench bench;

    begin(&bench);
    (void)scratch_directory(&bench.scratch, "directory");
    CU_ASSERT_EQUAL(mkfifo(scratch_path(&bench.scratch, "fifo"), 0600), 0);
    CU_ASSERT_EQUAL(symlink("loop", scratch_path(&bench.scratch, "loop")), 0);
    expect(&bench, SUM_EMPTY "  directory", INTEGRITY_UNREADABLE, EISDIR);
    expect(&bench, SUM_EMPTY "  fifo", INTEGRITY_UNREADABLE, 0);
    expect(&bench, SUM_EMPTY "  loop", INTEGRITY_UNREADABLE, ELOOP);
    finish(&bench);
}

static void test_symbolic_link_is_followed(void)
{
    struct bench bench;

    begin(&bench);
    (void)scratch_directory(&bench.scratch, "usr");
    (void)scratch_write(&bench.scratch, "usr/abc", "abc");
    CU_ASSERT_EQUAL(symlink("usr", scratch_path(&bench.scratch, "bin")), 0);
    CU_ASSERT_EQUAL(symlink("usr/abc", scratch_path(&bench.scratch, "link")), 0);
    expect(&bench, SUM_ABC "  bin/abc", INTEGRITY_OK, 0);
    expect(&bench, SUM_ABC "  link", INTEGRITY_OK, 0);
    finish(&bench);
}

static void test_odd_names_are_found(void)
{
    struct bench bench;

    begin(&bench);
    (void)scratch_write(&bench.scratch, " two  words ", "abc");
    (void)scratch_write(&bench.scratch, "back\\slash", "abc");
    (void)scratch_write(&bench.scratch, "line\nend", "abc");
    (void)scratch_write(&bench.scratch, "-dash", "abc");
    expect(&bench, SUM_ABC "   two  words ", INTEGRITY_OK, 0);
    expect(&bench, SUM_ABC "  back\\slash", INTEGRITY_OK, 0);
    expect(&bench, "\\" SUM_ABC "  back\\\\slash", INTEGRITY_OK, 0);
    expect(&bench, "\\" SUM_ABC "  line\\nend", INTEGRITY_OK, 0);
    expect(&bench, SUM_ABC " *-dash", INTEGRITY_OK, 0);
    finish(&bench);
}

static void test_absolute_name_stays_below_the_root(void)
{
    struct bench bench;

    begin(&bench);
    (void)scratch_write(&bench.scratch, "abc", "abc");
    expect(&bench, SUM_ABC "  /abc", INTEGRITY_OK, 0);
    expect(&bench, SUM_ABC "  /etc/passwd", INTEGRITY_MISSING, ENOENT);
    finish(&bench);
}

static void test_root_slash_gives_plain_absolute_paths(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "md5");
    struct bench bench = { .kit = kit };

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, ""), 0);
    expect(&bench, SUM_ABC "  no/such/file", INTEGRITY_MISSING, ENOENT);
    CU_ASSERT_STRING_EQUAL(integrity_result_path(last_result(&bench)), "/no/such/file");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_package_is_the_name_of_the_list(void)
{
    static const struct {
        const char *list;
        const char *package;
    } lists[] = {
        { "/var/lib/dpkg/info/bash.md5sums", "bash" },
        { "libc6:amd64.md5sums", "libc6:amd64" },
        { "/lists/other.txt", "other.txt" },
        { ".md5sums", ".md5sums" },
    };
    struct bench bench;

    begin(&bench);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        CU_ASSERT_EQUAL(give_again(&bench, lists[i].list, SUM_ABC "  none", 1), WEIR_DONE);
        CU_ASSERT_STRING_EQUAL(integrity_result_package(last_result(&bench)), lists[i].package);
    }
    finish(&bench);
}

static void test_malformed_line_is_rejected_and_reported(void)
{
    struct bench bench;

    begin(&bench);
    CU_ASSERT_EQUAL(give(&bench, "this is not a checksum"), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_sent_count(bench.kit), 0);
    CU_ASSERT_EQUAL(weir_kit_exit_status(bench.kit), 1);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(bench.kit), "no MD5 sum at the start of the line");
    CU_ASSERT_TRUE(weir_kit_has_logged(bench.kit, WEIR_LOG_WARNING, "path=" LIST " line=7"));
    finish(&bench);
}

static void test_blank_line_and_comment_are_nothing(void)
{
    struct bench bench;

    begin(&bench);
    CU_ASSERT_EQUAL(give(&bench, ""), WEIR_DONE);
    CU_ASSERT_EQUAL(give(&bench, "# comment"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent_count(bench.kit), 0);
    CU_ASSERT_EQUAL(weir_kit_exit_status(bench.kit), 0);
    finish(&bench);
}

static void test_other_message_is_rejected(void)
{
    struct bench bench;

    begin(&bench);
    CU_ASSERT_EQUAL(weir_kit_handle(bench.kit, "other/1", "12345678", 8), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(bench.kit, NULL, NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_handle(bench.kit, FILES_LINE_TAG, "12345678", 8), WEIR_REJECT);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(bench.kit), "not a files.line/1");
    finish(&bench);
}

static void test_refused_result_is_tried_again(void)
{
    struct bench bench;

    begin(&bench);
    weir_kit_limit(bench.kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(give(&bench, SUM_ABC "  none"), WEIR_RETRY);
    CU_ASSERT(weir_kit_retry_ms(bench.kit) > 0);
    CU_ASSERT_EQUAL(weir_kit_done(bench.kit, "files"), 0);
    weir_kit_limit(bench.kit, 0, WEIR_ECLOSED);
    CU_ASSERT_EQUAL(give(&bench, SUM_ABC "  none"), WEIR_REJECT);
    weir_kit_limit(bench.kit, 1, WEIR_EFULL);
    weir_kit_fail_allocation(bench.kit, 1);
    CU_ASSERT_EQUAL(give(&bench, SUM_ABC "  none"), WEIR_POSTPONE);
    expect(&bench, SUM_ABC "  none", INTEGRITY_MISSING, ENOENT);
    finish(&bench);
}

static void test_without_descriptors_is_postponed(void)
{
    struct bench bench;
    struct rlimit before;
    struct rlimit none;

    begin(&bench);
    (void)scratch_write(&bench.scratch, "abc", "abc");
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){ 0, before.rlim_max };
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CU_ASSERT_EQUAL(give_again(&bench, LIST, SUM_ABC "  abc", 1), WEIR_POSTPONE);
    CU_ASSERT_EQUAL(give_again(&bench, LIST, SUM_ABC "  abc", 100), WEIR_POSTPONE);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect(&bench, SUM_ABC "  abc", INTEGRITY_OK, 0);
    finish(&bench);
}

static void test_root_must_be_an_absolute_directory(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "md5");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "root: relative"), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "args:1:7: root: "));
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "root: /no/such/root"), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "");
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "root cannot be opened");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "false sizes", test_line_with_false_sizes_is_none },
        { "unchanged file is ok", test_unchanged_file_is_ok },
        { "file larger than the buffer is read whole",
          test_file_larger_than_the_buffer_is_read_whole },
        { "other content is changed", test_other_content_is_changed },
        { "absent file is missing", test_absent_file_is_missing },
        { "what is no regular file is unreadable at once",
          test_what_is_no_regular_file_is_unreadable_at_once },
        { "symbolic link is followed", test_symbolic_link_is_followed },
        { "odd names are found", test_odd_names_are_found },
        { "absolute name stays below the root", test_absolute_name_stays_below_the_root },
        { "root slash gives plain absolute paths", test_root_slash_gives_plain_absolute_paths },
        { "package is the name of the list", test_package_is_the_name_of_the_list },
        { "malformed line is rejected and reported", test_malformed_line_is_rejected_and_reported },
        { "blank line and comment are nothing", test_blank_line_and_comment_are_nothing },
        { "other message is rejected", test_other_message_is_rejected },
        { "refused result is tried again", test_refused_result_is_tried_again },
        { "without descriptors is postponed", test_without_descriptors_is_postponed },
        { "root must be an absolute directory", test_root_must_be_an_absolute_directory },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin integrity", tests);
}
