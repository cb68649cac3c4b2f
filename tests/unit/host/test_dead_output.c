/* SPDX-License-Identifier: MIT */
/*
 * Goal: a write that stores a part only is continued, and an append that fails leaves the file as
 * it was.
 *
 * Method: pwrite and fdatasync of this program store a few bytes, are interrupted, or fail.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "host/dead/dead_output.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

#define TEXT "0123456789abcdef"
#define TEXT_SIZE (sizeof TEXT - 1)
#define PART 3u

/* What the calls do. */
static struct {
    bool in_parts;       /* each write stores PART bytes, and each second one is interrupted */
    int writes_to_error; /* that many writes later ENOSPC; negative: never */
    bool sync_fails;
    int writes;
} disk;

ssize_t __real_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);
int __real_fdatasync(int descriptor);
int __wrap_fdatasync(int descriptor);

ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (disk.writes_to_error >= 0 && disk.writes_to_error-- == 0) {
        errno = ENOSPC;
        return -1;
    }
    if (!disk.in_parts)
        return __real_pwrite(descriptor, bytes, size, offset);
    if (disk.writes++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return __real_pwrite(descriptor, bytes, size < PART ? size : PART, offset);
}

int __wrap_fdatasync(int descriptor)
{
    if (!disk.sync_fails)
        return __real_fdatasync(descriptor);
    errno = EIO;
    return -1;
}

struct fixture {
    struct workspace workspace;
    char path[256];
    struct dead_output *output;
    size_t begun; /* the size of a file without records */
};

static void begin(struct fixture *f)
{
    disk.in_parts = false;
    disk.writes_to_error = -1;
    disk.sync_fails = false;
    disk.writes = 0;
    workspace_init(&f->workspace);
    (void)workspace_path(&f->workspace, "dead", f->path);
    CU_ASSERT_EQUAL_FATAL(dead_output_open(f->path, &f->output), 0);
    f->begun = f->output->size;
}

static void finish(struct fixture *f)
{
    dead_output_close(f->output);
    workspace_finish(&f->workspace);
}

/* The file has these bytes behind its first line, and nothing else. */
static void check_appended(const struct fixture *f, const char *bytes, size_t size)
{
    size_t there;
    char *whole = workspace_read(f->path, &there);

    CU_ASSERT_EQUAL(there, f->begun + size);
    CU_ASSERT_EQUAL(f->output->size, f->begun + size);
    CU_ASSERT(there >= f->begun + size && memcmp(whole + f->begun, bytes, size) == 0);
    free(whole);
}

static void test_write_in_parts_is_continued(void)
{
    struct fixture f;

    begin(&f);
    disk.in_parts = true;
    CU_ASSERT_EQUAL(dead_output_append(f.output, TEXT, TEXT_SIZE, 1), 0);
    check_appended(&f, TEXT, TEXT_SIZE);
    CU_ASSERT_EQUAL(f.output->records, 1);
    finish(&f);
}

static void test_write_that_fails_in_the_middle_leaves_nothing(void)
{
    struct fixture f;

    begin(&f);
    disk.in_parts = true;
    disk.writes_to_error = 5;
    CU_ASSERT_EQUAL(dead_output_append(f.output, TEXT, TEXT_SIZE, 1), ENOSPC);
    check_appended(&f, "", 0);
    CU_ASSERT_EQUAL(f.output->records, 0);
    CU_ASSERT_EQUAL(dead_output_append(f.output, TEXT, TEXT_SIZE, 1), 0);
    check_appended(&f, TEXT, TEXT_SIZE);
    finish(&f);
}

static void test_bytes_that_are_not_synced_are_removed(void)
{
    struct fixture f;

    begin(&f);
    disk.sync_fails = true;
    CU_ASSERT_EQUAL(dead_output_append(f.output, TEXT, TEXT_SIZE, 1), EIO);
    check_appended(&f, "", 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "write in parts", test_write_in_parts_is_continued },
        { "write that fails", test_write_that_fails_in_the_middle_leaves_nothing },
        { "sync that fails", test_bytes_that_are_not_synced_are_removed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host dead output", tests);
}
