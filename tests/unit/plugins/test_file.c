/* SPDX-License-Identifier: MIT */
/*
 * Goal:   file.append appends every message whole and in order, rotates by size and by time, and
 *         takes back what it could not write whole.
 * Method: the kit delivers messages; the files are read back. A file of an earlier period has an
 *         earlier time of change. A full disk is /dev/full, or a limit of the size of files.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "scratch.h"

extern const struct weir_plugin weir_plugin_v1;

static struct weir_kit *worker(struct scratch *scratch, const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "append");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(
        weir_kit_open_format(kit, "path: %s\n%s", scratch_path(scratch, "file"), args), 0);
    return kit;
}

static int give(struct weir_kit *kit, const char *text)
{
    return weir_kit_handle(kit, "text/1", text, strlen(text));
}

static void expect_file(struct scratch *scratch, const char *name, const char *content)
{
    char *text = scratch_read(scratch, name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, content);
    free(text);
}

static void expect_no_file(struct scratch *scratch, const char *name)
{
    struct stat about;

    CU_ASSERT_TRUE(stat(scratch_path(scratch, name), &about) < 0);
}

static void test_messages_are_appended_at_once(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    scratch_init(&scratch);
    (void)scratch_write(&scratch, "file", "zero\n");
    kit = worker(&scratch, "");
    CU_ASSERT_EQUAL(give(kit, "one"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, "two\n"), WEIR_DONE);
    expect_file(&scratch, "file", "zero\none\ntwo\n");
    CU_ASSERT_EQUAL(weir_kit_done(kit, "messages"), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = worker(&scratch, "end: none");
    CU_ASSERT_EQUAL(give(kit, "three"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    expect_file(&scratch, "file", "zero\none\ntwo\nthree");
    scratch_finish(&scratch);
}

/* As a kill leaves it. */
static void test_half_a_line_is_not_continued(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    scratch_init(&scratch);
    (void)scratch_write(&scratch, "file", "zero\nha");
    kit = worker(&scratch, "");
    CU_ASSERT_EQUAL(give(kit, "one"), WEIR_DONE);
    expect_file(&scratch, "file", "zero\nha\none\n");
    (void)scratch_write(&scratch, "file", "more");
    weir_kit_reopen(kit);
    CU_ASSERT_EQUAL(give(kit, "two"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, "three"), WEIR_DONE);
    expect_file(&scratch, "file", "more\ntwo\nthree\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    (void)scratch_write(&scratch, "file", "bytes");
    kit = worker(&scratch, "end: none");
    CU_ASSERT_EQUAL(give(kit, "."), WEIR_DONE);
    expect_file(&scratch, "file", "bytes.");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

/* The link stays, and the old files are beside its target. */
static void test_target_of_a_link_rotates(void)
{
    struct scratch scratch;
    struct weir_kit *kit;
    struct stat about;

    scratch_init(&scratch);
    (void)scratch_directory(&scratch, "folder");
    CU_ASSERT_EQUAL(symlink("folder/target", scratch_path(&scratch, "file")), 0);
    kit = worker(&scratch, "rotate_size: 4\nkeep: 2");
    CU_ASSERT_EQUAL(give(kit, "one"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, "two"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, "six"), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    CU_ASSERT_EQUAL(lstat(scratch_path(&scratch, "file"), &about), 0);
    CU_ASSERT_TRUE(S_ISLNK(about.st_mode));
    expect_file(&scratch, "folder/target", "six\n");
    expect_file(&scratch, "folder/target.1", "two\n");
    expect_file(&scratch, "folder/target.2", "one\n");
    expect_no_file(&scratch, "file.1");
    scratch_finish(&scratch);
}

/* Its name is never another file's: a device would be gone. */
static void test_fifo_never_rotates(void)
{
    for (int keep = 0; keep < 2; keep++) {
        struct scratch scratch;
        struct weir_kit *kit;
        struct stat about;
        char got[16] = "";
        int reader;

        scratch_init(&scratch);
        CU_ASSERT_EQUAL(mkfifo(scratch_path(&scratch, "file"), 0600), 0);
        reader = open(scratch_path(&scratch, "file"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        CU_ASSERT_TRUE_FATAL(reader >= 0);
        kit = worker(&scratch, keep ? "rotate_size: 4\nkeep: 2" : "rotate_size: 4\nkeep: 0");
        CU_ASSERT_EQUAL(give(kit, "one"), WEIR_DONE);
        CU_ASSERT_EQUAL(give(kit, "two"), WEIR_DONE);
        CU_ASSERT_EQUAL(read(reader, got, sizeof got - 1), 8);
        CU_ASSERT_STRING_EQUAL(got, "one\ntwo\n");
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
        CU_ASSERT_EQUAL(close(reader), 0);
        CU_ASSERT_EQUAL(stat(scratch_path(&scratch, "file"), &about), 0);
        CU_ASSERT_TRUE(S_ISFIFO(about.st_mode));
        expect_no_file(&scratch, "file.1");
        scratch_finish(&scratch);
    }
}

static void test_full_file_becomes_an_old_one(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    scratch_init(&scratch);
    kit = worker(&scratch, "rotate_size: 8\nkeep: 2");
    CU_ASSERT_EQUAL(give(kit, "abc"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, "def"), WEIR_DONE);
    expect_no_file(&scratch, "file.1");
    CU_ASSERT_EQUAL(give(kit, "a longer one"), WEIR_DONE);
    expect_file(&scratch, "file.1", "abc\ndef\n");
    CU_ASSERT_EQUAL(give(kit, "x"), WEIR_DONE);
    expect_file(&scratch, "file.2", "abc\ndef\n");
    expect_file(&scratch, "file.1", "a longer one\n");
    CU_ASSERT_EQUAL(give(kit, "12345678"), WEIR_DONE);
    expect_file(&scratch, "file.2", "a longer one\n");
    expect_file(&scratch, "file.1", "x\n");
    expect_file(&scratch, "file", "12345678\n");
    expect_no_file(&scratch, "file.3");
    CU_ASSERT_STRING_EQUAL(
        weir_kit_inspect(kit, (const char *[]){ "file_size", "rotations", NULL }),
        "file_size=9\nrotations=3\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

static void test_nothing_is_kept_when_keep_is_zero(void)
{
    struct scratch scratch;
    struct weir_kit *kit;

    scratch_init(&scratch);
    kit = worker(&scratch, "rotate_size: 4\nkeep: 0");
    CU_ASSERT_EQUAL(give(kit, "abc"), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, "def"), WEIR_DONE);
    expect_file(&scratch, "file", "def\n");
    expect_no_file(&scratch, "file.1");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

static void test_file_of_an_earlier_period_becomes_an_old_one(void)
{
    const struct timespec yesterday[2] = { { time(NULL) - 100000, 0 }, { time(NULL) - 100000, 0 } };
    struct scratch scratch;
    struct weir_kit *kit;

    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(utimensat(-1, scratch_write(&scratch, "file", "old\n"), yesterday, 0), 0);
    kit = worker(&scratch, "rotate_every: 24h");
    expect_no_file(&scratch, "file.1");
    CU_ASSERT_EQUAL(give(kit, "new"), WEIR_DONE);
    expect_file(&scratch, "file.1", "old\n");
    expect_file(&scratch, "file", "new\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

static void test_renamed_file_is_left_for_another_one(void)
{
    struct scratch scratch;
    struct weir_kit *kit;
    char *path;

    scratch_init(&scratch);
    path = strdup(scratch_path(&scratch, "file"));
    kit = worker(&scratch, "");
    CU_ASSERT_EQUAL(give(kit, "one"), WEIR_DONE);
    CU_ASSERT_EQUAL(rename(path, scratch_path(&scratch, "moved")), 0);
    CU_ASSERT_EQUAL(give(kit, "two"), WEIR_DONE);
    weir_kit_reopen(kit);
    CU_ASSERT_EQUAL(give(kit, "three"), WEIR_DONE);
    expect_file(&scratch, "moved", "one\ntwo\n");
    expect_file(&scratch, "file", "three\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    free(path);
    scratch_finish(&scratch);
}

static void test_half_a_message_is_taken_back_and_tried_again(void)
{
    struct scratch scratch;
    struct weir_kit *kit;
    struct rlimit former, small;

    scratch_init(&scratch);
    kit = worker(&scratch, "");
    CU_ASSERT_EQUAL(give(kit, "whole"), WEIR_DONE);
    (void)signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &former), 0);
    small = (struct rlimit){ .rlim_cur = 8, .rlim_max = former.rlim_max };
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
    CU_ASSERT_EQUAL(give(kit, "not whole"), WEIR_RETRY);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &former), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "file: File too large");
    expect_file(&scratch, "file", "whole\n");
    CU_ASSERT_EQUAL(give(kit, "not whole"), WEIR_DONE);
    expect_file(&scratch, "file", "whole\nnot whole\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&scratch);
}

static void test_full_disk_is_reported_and_postpones(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "append");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, "path: /dev/full"), 0);
    CU_ASSERT_EQUAL(give(kit, "waits"), WEIR_POSTPONE);
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), 1000);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "No space left on device"));
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_path_that_cannot_be_opened_is_reported(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "append");

    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "path: /no/such/file"), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "/no/such/file: No such file or directory");
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "path: ''"));
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "path: a\nrotate_every: 10ms"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "messages are appended", test_messages_are_appended_at_once },
        { "half a line", test_half_a_line_is_not_continued },
        { "link", test_target_of_a_link_rotates },
        { "FIFO", test_fifo_never_rotates },
        { "full file", test_full_file_becomes_an_old_one },
        { "keep: 0", test_nothing_is_kept_when_keep_is_zero },
        { "earlier period", test_file_of_an_earlier_period_becomes_an_old_one },
        { "renamed file", test_renamed_file_is_left_for_another_one },
        { "half a message", test_half_a_message_is_taken_back_and_tried_again },
        { "full disk", test_full_disk_is_reported_and_postpones },
        { "path that cannot be opened", test_path_that_cannot_be_opened_is_reported },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin file", tests);
}
