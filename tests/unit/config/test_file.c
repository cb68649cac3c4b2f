/* SPDX-License-Identifier: MIT */
/*
 * Goal: reading returns one whole text of the file, or nothing: a file that changes meanwhile is
 * read again, and a file that keeps changing, or grows past the limit, is refused. Shows promise
 * C10.
 * Method: the linker puts this file's `read` between the language and libc; it changes the file
 * while it is read, once or each time.
 */
#include <fcntl.h>

#include "base/report.h"
#include "config/file.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

ssize_t __real_read(int descriptor, void *bytes, size_t size);
ssize_t __wrap_read(int descriptor, void *bytes, size_t size);

/* The change of the file during the read. */
static struct {
    const char *path;
    const char *text; /* written at its end */
    int times;
    bool truncates; /* to nothing, first */
} meddling;

static void meddle(void)
{
    int flags = O_WRONLY | O_APPEND | (meddling.truncates ? O_TRUNC : 0);
    int descriptor = open(meddling.path, flags);

    CU_ASSERT_FATAL(descriptor >= 0);
    CU_ASSERT(write(descriptor, meddling.text, strlen(meddling.text)) >= 0);
    CU_ASSERT_EQUAL(close(descriptor), 0);
}

/* A few bytes at a time, so that there is a middle in which to meddle. */
ssize_t __wrap_read(int descriptor, void *bytes, size_t size)
{
    ssize_t got = __real_read(descriptor, bytes, size < 4 ? size : 4);

    if (got > 0 && meddling.times > 0) {
        meddling.times--;
        meddle();
    }
    return got;
}

struct fixture {
    struct workspace workspace;
    char path[256];
    char *bytes;
    size_t size;
    char why[160];
};

static void begin(struct fixture *f, const char *text)
{
    workspace_init(&f->workspace);
    (void)workspace_path(&f->workspace, "file", f->path);
    workspace_write(f->path, text, strlen(text));
    f->bytes = NULL;
}

/* Changes the content `times` times. */
static int read_it(struct fixture *f, size_t max, const char *text, int times, bool truncates)
{
    int status;

    meddling.path = f->path;
    meddling.text = text;
    meddling.times = times;
    meddling.truncates = truncates;
    status = file_read(f->path, max, &f->bytes, &f->size, f->why, sizeof f->why);
    meddling.times = 0;
    return status;
}

static void end(struct fixture *f)
{
    free(f->bytes);
    workspace_finish(&f->workspace);
}

static void test_file_that_rests_is_read_whole(void)
{
    struct fixture f;

    begin(&f, "one two three");
    CU_ASSERT_EQUAL_FATAL(read_it(&f, 100, "", 0, false), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(f.bytes, "one two three");
    CU_ASSERT_EQUAL(f.size, 13);
    end(&f);
}

static void test_file_that_grows_once_is_read_again(void)
{
    struct fixture f;

    begin(&f, "one two three");
    CU_ASSERT_EQUAL_FATAL(read_it(&f, 100, " four", 1, false), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(f.bytes, "one two three four");
    end(&f);
}

static void test_file_that_is_overwritten_is_read_as_the_new_one(void)
{
    struct fixture f;

    begin(&f, "one two three");
    CU_ASSERT_EQUAL_FATAL(read_it(&f, 100, "other words here", 1, true), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(f.bytes, "other words here");
    end(&f);
}

static void test_file_that_never_rests_is_refused(void)
{
    struct fixture f;

    begin(&f, "one");
    CU_ASSERT_EQUAL(read_it(&f, 100, "another", 1000000, true), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(f.why, "changes while it is read");
    CU_ASSERT_PTR_NULL(f.bytes);
    end(&f);
}

static void test_file_that_grows_past_the_limit_is_refused(void)
{
    struct fixture f;

    begin(&f, "one");
    CU_ASSERT_EQUAL(read_it(&f, 10, "+++++++++", 1, false), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(f.why, "is too large, and grew while it was read");
    end(&f);
}

static void test_file_of_proc_has_no_size_and_is_read(void)
{
    struct fixture f;

    begin(&f, "");
    CU_ASSERT_EQUAL_FATAL(
        file_read("/proc/self/cmdline", 65536, &f.bytes, &f.size, f.why, sizeof f.why), WEIR_OK);
    CU_ASSERT(f.size > 0);
    end(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "rests", test_file_that_rests_is_read_whole },
        { "grows", test_file_that_grows_once_is_read_again },
        { "rewritten", test_file_that_is_overwritten_is_read_as_the_new_one },
        { "never rests", test_file_that_never_rests_is_refused },
        { "past the limit", test_file_that_grows_past_the_limit_is_refused },
        { "proc", test_file_of_proc_has_no_size_and_is_read },
        CU_TEST_INFO_NULL,
    };

    return suite_run("file", tests);
}
