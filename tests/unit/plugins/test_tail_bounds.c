/* SPDX-License-Identifier: MIT */
/*
 * Goal:   files.tail reads each byte of a line without an end once while it grows, returns from
 *         each call after a bounded amount of input, and lets no file hold up the others. Shows
 *         promise B22.
 * Method: the kernel counts the bytes that the process reads. Files are a terabyte without a line,
 *         megabytes without a line, and a line that grows.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "tail_fixture.h"

#define MIB ((uint64_t)1024 * 1024)

/* Bytes that this process has read. */
static uint64_t bytes_read(void)
{
    FILE *stream = fopen("/proc/self/io", "re");
    unsigned long long bytes = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(fscanf(stream, "rchar: %llu", &bytes), 1);
    CU_ASSERT_EQUAL(fclose(stream), 0);
    return bytes;
}

/* Bytes without a line end. */
static void append_bytes(struct fixture *f, const char *name, size_t size)
{
    char *text = malloc(size + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', size);
    text[size] = '\0';
    fixture_append_to(f, name, text);
    free(text);
}

static void test_line_that_grows_is_resumed(void)
{
    struct fixture f;
    uint64_t before;

    fixture_begin(&f, "a.log", "");
    append_bytes(&f, "a.log", 900 * 1024);
    fixture_expect(&f, "");
    before = bytes_read();
    for (int i = 0; i < 100; i++) {
        append_bytes(&f, "a.log", 40);
        fixture_expect(&f, "");
    }
    CU_ASSERT_TRUE(bytes_read() - before < 100 * 256 * 1024); /* the fingerprints are most of it */
    fixture_append_to(&f, "a.log", "\nnext\n");
    fixture_look(&f);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 2);
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->line_size, 900 * 1024 + 4000);
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->offset, 0);
    CU_ASSERT_EQUAL(fixture_line_at(&f, 1)->number, 2);
    fixture_finish(&f);
}

/* Half a line at the end of a rotated file, which was looked through before. */
static void test_line_that_never_ends_is_a_line_of_a_rotated_file(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "rotate_wait: 1s");
    fixture_append_to(&f, "a.log", "one\nhal");
    fixture_expect(&f, "one\n");
    fixture_append_to(&f, "a.log", "f");
    fixture_expect(&f, "");
    fixture_move(&f, "a.log", "other");
    for (int i = 0; i < 5; i++)
        fixture_look(&f);
    fixture_expect(&f, "half\n");
    fixture_finish(&f);
}

static void test_line_that_grows_too_long_is_skipped(void)
{
    struct fixture f;

    fixture_begin(&f, "a.log", "");
    for (int i = 0; i < 12; i++) {
        append_bytes(&f, "a.log", 100 * 1024);
        fixture_expect(&f, "");
    }
    fixture_append_to(&f, "a.log", "\nnext\n");
    fixture_expect(&f, "next\n");
    CU_ASSERT_EQUAL(fixture_line_at(&f, 0)->number, 2);
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "line too long"));
    fixture_finish(&f);
}

static void test_call_reads_a_bounded_amount(void)
{
    static const char *const behaviours[] = { "tail", "lines" };

    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++) {
        struct fixture f;
        uint64_t before;

        scratch_init(&f.scratch);
        for (int part = 0; part < 5; part++)
            append_bytes(&f, "a.log", 16 * MIB);
        (void)snprintf(f.args, sizeof f.args, "paths: ['%s/a.log']\nposition: '%s/position'\n",
                       f.scratch.path, f.scratch.path);
        f.kit = weir_kit_create(&weir_plugin_v1, behaviours[i]);
        CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
        before = bytes_read();
        CU_ASSERT_EQUAL(weir_kit_produce(f.kit, 100), WEIR_MORE);
        CU_ASSERT_TRUE(bytes_read() - before < 32 * MIB);
        CU_ASSERT_TRUE(weir_kit_produce_all(f.kit, 20) != WEIR_MORE);
        fixture_finish(&f);
    }
}

static void test_terabyte_without_a_line_holds_up_no_other_file(void)
{
    struct fixture f;
    uint64_t before;

    fixture_begin(&f, "*.log", "");
    fixture_append_to(&f, "a.log", "one\n");
    fixture_append_to(&f, "b.log", "two\n");
    fixture_expect(&f, "one\ntwo\n");
    CU_ASSERT_EQUAL(truncate(scratch_path(&f.scratch, "a.log"), (off_t)1 << 40), 0);
    fixture_append_to(&f, "b.log", "three\n");
    before = bytes_read();
    fixture_expect(&f, "three\n");
    fixture_append_to(&f, "a.log", "\nfour\n");
    fixture_expect(&f, "four\n");
    CU_ASSERT_TRUE(bytes_read() - before < 64 * MIB);
    fixture_finish(&f);
}

/* Data without holes: the other file has its turn in between. */
static void test_long_line_holds_up_no_other_file(void)
{
    struct fixture f;

    fixture_begin(&f, "*.log", "");
    for (int part = 0; part < 8; part++)
        append_bytes(&f, "a.log", 16 * MIB);
    fixture_append_to(&f, "b.log", "two\n");
    weir_kit_advance(f.kit, POLL_MS);
    for (int call = 0; call < 3; call++)
        (void)weir_kit_produce(f.kit, 100);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 1);
    fixture_finish(&f);
}

/* --- many files ------------------------------------------------------------------------------- */

/* A file of /proc has no size: a position would never move in it, and it would be read without
 * end. */
static void test_file_without_a_size_is_a_fault(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "lines");
    struct scratch scratch;
    char args[512];

    scratch_init(&scratch);
    (void)snprintf(args, sizeof args, "paths: [/proc/self/status]\nposition: '%s'\n",
                   scratch_path(&scratch, "position"));
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    (void)weir_kit_produce_all(kit, 10);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "/proc/self/status"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

/* Each is found, known and found again; the time is not measured here. */
static void test_thousands_of_files_are_followed(void)
{
    enum { FILES = 900 }; /* below the usual limit of 1,024 descriptors */
    struct fixture f;
    char name[32];

    fixture_begin(&f, "*.log", "unsettled: 5000");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FILES; i++) {
            (void)snprintf(name, sizeof name, "%d.log", i);
            fixture_append_to(&f, name, "line\n");
        }
        fixture_look(&f);
        CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), FILES);
        for (size_t i = 0; i < FILES; i++)
            fixture_done(&f, i);
        fixture_restart(&f);
    }
    fixture_look(&f);
    CU_ASSERT_EQUAL(weir_kit_sent_count(f.kit), 0);
    fixture_finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "growing line", test_line_that_grows_is_resumed },
        { "line of a rotated file", test_line_that_never_ends_is_a_line_of_a_rotated_file },
        { "growing too long", test_line_that_grows_too_long_is_skipped },
        { "one call", test_call_reads_a_bounded_amount },
        { "terabyte", test_terabyte_without_a_line_holds_up_no_other_file },
        { "long line", test_long_line_holds_up_no_other_file },
        { "no size", test_file_without_a_size_is_a_fault },
        { "thousands", test_thousands_of_files_are_followed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files tail bounds", tests);
}
