/* SPDX-License-Identifier: MIT */
/*
 * Goal: a start reads the file of crashes whatever bytes are in it, counts each whole line, and
 * leaves a file of others as it is. Shows promise B112.
 * Method: files with damage of each kind; what is found in them, and what they are afterwards.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <unistd.h>

#include <weir/plugin.h>

#include "host/crash/crash_file.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"

#define HEAD CRASH_FILE_FIRST_LINE
#define LINE "1 SIGSEGV 00000000000000a1 eaters in:7\n"
#define COPY(number) "1 SIGSEGV 00000000000000a1 eaters/" number "/inner in:7\n"
#define BYTES(text) text, sizeof(text) - 1

static const struct file {
    const char *bytes;
    size_t size;
    int status;
    const char *pool;
    uint32_t crashes; /* of the message a1 there */
    const char *after;
} files[] = {
    { BYTES(""), 0, "eaters", 0, HEAD },
    { BYTES("weir cra"), 0, "eaters", 0, HEAD },
    { BYTES(HEAD), 0, "eaters", 0, HEAD },
    { BYTES("x"), WEIR_EINVALID, "eaters", 0, "x" },
    { BYTES("of others, with no line end"), WEIR_EINVALID, "eaters", 0,
      "of others, with no line end" },
    { BYTES("of others\n" LINE), WEIR_EINVALID, "eaters", 0, "of others\n" LINE },
    { BYTES(HEAD LINE LINE), 0, "eaters", 2, HEAD LINE LINE },
    { BYTES(HEAD LINE "1 SIG"), 0, "eaters", 1, HEAD LINE },
    { BYTES(HEAD LINE "\0\0\0" LINE), 0, "eaters", 2, NULL },
    { BYTES(HEAD "\0\n\n \n1 2\n1 SIGSEGV 1 eaters\n" LINE), 0, "eaters", 1, NULL },
    { BYTES(HEAD "1 SIG\0\0" LINE LINE "\0\0"), 0, "eaters", 2, NULL },
    { BYTES(HEAD LINE LINE), 0, "others", 0, NULL },
    { BYTES(HEAD COPY("0") COPY("17")), 0, "eaters/3/inner", 2, NULL },
    { BYTES(HEAD COPY("0") COPY("a")), 0, "eaters/0/inner", 1, NULL },
    { BYTES(HEAD COPY("0")), 0, "eaters/0/outer", 0, NULL },
    { BYTES(HEAD COPY("0")), 0, "eaters/0", 0, NULL },
};

static int open_file(const char *path)
{
    struct settings settings = { .host = { .crash_file = path } };
    struct report report;
    int status;

    report_init(&report);
    status = crash_file_open(&settings, NULL, &report);
    CU_ASSERT_EQUAL(report.errors.count, status == WEIR_EINVALID ? 1 : 0);
    report_finish(&report);
    return status;
}

static uint32_t crashes_in(const char *pool)
{
    struct poison *poison = NULL;
    uint32_t count = 0, crashes;

    CU_ASSERT_EQUAL_FATAL(crash_file_poison(pool, 1, &poison, &count), 0);
    CU_ASSERT_FATAL(count <= 1);
    crashes = count ? poison[0].crashes : 0;
    free(poison);
    return crashes;
}

static void open_damaged(const struct workspace *work, const struct file *file)
{
    char path[256];
    size_t size;
    char *bytes;

    workspace_write(workspace_path(work, "crashes", path), file->bytes, file->size);
    CU_ASSERT_EQUAL(open_file(path), file->status);
    CU_ASSERT_EQUAL(crashes_in(file->pool), file->crashes);
    crash_file_close();
    bytes = workspace_read(path, &size);
    if (file->after)
        CU_ASSERT(size == strlen(file->after) && memcmp(bytes, file->after, size) == 0);
    free(bytes);
}

/* promise B112 */
static void test_damaged_files(void)
{
    struct workspace work;

    workspace_init(&work);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        open_damaged(&work, &files[i]);
    workspace_finish(&work);
}

/* 2 MiB of no line, and then a line: only the last part is read. */
static void test_large_file(void)
{
    const size_t junk = (size_t)2 << 20, size = strlen(HEAD) + junk + 1 + strlen(LINE);
    char *bytes = calloc(1, size);
    struct workspace work;
    char path[256];
    size_t after;

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memcpy(bytes, HEAD, strlen(HEAD));
    bytes[strlen(HEAD) + junk] = '\n';
    memcpy(bytes + strlen(HEAD) + junk + 1, LINE, strlen(LINE));
    workspace_init(&work);
    workspace_write(workspace_path(&work, "crashes", path), bytes, size);
    free(bytes);
    CU_ASSERT_EQUAL(open_file(path), 0);
    CU_ASSERT_EQUAL(crashes_in("eaters"), 1);
    crash_file_close();
    bytes = workspace_read(path, &after);
    CU_ASSERT_STRING_EQUAL(bytes, HEAD LINE);
    free(bytes);
    workspace_finish(&work);
}

/* --- two hosts -------------------------------------------------------------------------------- */

#define ROUNDS 1500 /* opens that succeed; one in some hundred meets a file that is replaced */

struct other_host {
    char path[256], beside[256];
    atomic_bool is_over;
};

static int open_and_lock(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);

    if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor;
    if (descriptor >= 0)
        (void)close(descriptor);
    return -1;
}

/* As a start that keeps a part of its file, and then the end of that host. */
static void *replace_again_and_again(void *context)
{
    struct other_host *other = context;

    while (!atomic_load(&other->is_over)) {
        int old = open_and_lock(other->path);
        int new = old >= 0 ? open_and_lock(other->beside) : -1;

        if (new >= 0 && write(new, HEAD, strlen(HEAD)) > 0)
            (void)rename(other->beside, other->path);
        if (old >= 0)
            (void)close(old);
        if (new >= 0)
            (void)close(new);
    }
    return NULL;
}

/* promise B112: a lock of a file that was replaced meanwhile is none. */
static void test_file_that_is_replaced(void)
{
    struct other_host other = { .is_over = false };
    struct workspace work;
    pthread_t thread;

    workspace_init(&work);
    (void)workspace_path(&work, "crashes", other.path);
    (void)workspace_path(&work, "beside", other.beside);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, replace_again_and_again, &other), 0);
    for (int round = 0; round < ROUNDS;) {
        struct settings settings = { .host = { .crash_file = other.path } };
        struct report report;
        int second;

        report_init(&report);
        if (crash_file_open(&settings, NULL, &report) == 0) {
            second = open_and_lock(other.path);
            CU_ASSERT_EQUAL_FATAL(second, -1);
            round++;
        }
        report_finish(&report);
        crash_file_close();
    }
    atomic_store(&other.is_over, true);
    (void)pthread_join(thread, NULL);
    workspace_finish(&work);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "damaged files", test_damaged_files },
        { "a large file", test_large_file },
        { "a file that is replaced", test_file_that_is_replaced },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host crash_file", tests);
}
