/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct followed;
struct reader_line;
struct sent_line;

enum call {
    STAT,
    LSTAT,
    FSTAT,
    PREAD,
    READ,
    SCANDIR,
    REALPATH,
    OPEN,
    STRNDUP, /* of memory, from here on */
    STRDUP,
    ASPRINTF,
    SENT_LINE,
    CALLS,
};

static const char *const call_names[] = {
    [STAT] = "stat",         [LSTAT] = "lstat",       [FSTAT] = "fstat",
    [PREAD] = "pread",       [READ] = "read",         [SCANDIR] = "scandir",
    [REALPATH] = "realpath", [STRNDUP] = "strndup",   [STRDUP] = "strdup",
    [OPEN] = "open",         [ASPRINTF] = "asprintf", [SENT_LINE] = "sent_line_create",
};

static enum call failing;
static unsigned left; /* calls up to the one that fails; 0: none does */
static unsigned failed;
static int failure;
static bool stays;

const char *faults_name(size_t call)
{
    return call < CALLS ? call_names[call] : NULL;
}

size_t faults_call(const char *name)
{
    size_t call = 0;

    while (strcmp(call_names[call], name) != 0)
        call++;
    return call;
}

void faults_begin(size_t call, unsigned nth, int error)
{
    failing = (enum call)call;
    left = nth;
    failed = 0;
    failure = error;
    stays = false;
}

void faults_begin_at(size_t call, unsigned nth, int error)
{
    faults_begin(call, nth, error);
    stays = true;
}

bool faults_is_of_memory(size_t call)
{
    return call >= STRNDUP;
}

unsigned faults_end(void)
{
    left = 0;
    return failed;
}

static bool fails(enum call call)
{
    if (call != failing || left == 0 || --left > 0)
        return false;
    left = stays; /* the next one, too */
    failed++;
    errno = failure;
    return true;
}

int __real_stat(const char *path, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);

int __wrap_stat(const char *path, struct stat *out)
{
    return fails(STAT) ? -1 : __real_stat(path, out);
}

int __real_lstat(const char *path, struct stat *out);
int __wrap_lstat(const char *path, struct stat *out);

int __wrap_lstat(const char *path, struct stat *out)
{
    return fails(LSTAT) ? -1 : __real_lstat(path, out);
}

int __real_fstat(int descriptor, struct stat *out);
int __wrap_fstat(int descriptor, struct stat *out);

int __wrap_fstat(int descriptor, struct stat *out)
{
    return fails(FSTAT) ? -1 : __real_fstat(descriptor, out);
}

ssize_t __real_pread(int descriptor, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int descriptor, void *to, size_t size, off_t offset);

ssize_t __wrap_pread(int descriptor, void *to, size_t size, off_t offset)
{
    return fails(PREAD) ? -1 : __real_pread(descriptor, to, size, offset);
}

int __real_scandir(const char *folder, struct dirent ***out, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));
int __wrap_scandir(const char *folder, struct dirent ***out, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));

int __wrap_scandir(const char *folder, struct dirent ***out, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    return fails(SCANDIR) ? -1 : __real_scandir(folder, out, filter, compare);
}

ssize_t __real_read(int descriptor, void *to, size_t size);
ssize_t __wrap_read(int descriptor, void *to, size_t size);

ssize_t __wrap_read(int descriptor, void *to, size_t size)
{
    return fails(READ) ? -1 : __real_read(descriptor, to, size);
}

char *__real_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to);

char *__wrap_realpath(const char *path, char *to)
{
    return fails(REALPATH) ? NULL : __real_realpath(path, to);
}

char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);

char *__wrap_strndup(const char *text, size_t size)
{
    return fails(STRNDUP) ? NULL : __real_strndup(text, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
    return fails(STRDUP) ? NULL : __real_strdup(text);
}

int __wrap_fsync(int descriptor);

int __wrap_fsync(int descriptor) /* for thousands of starts */
{
    (void)descriptor;
    return 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;

    va_start(more, flags);
    mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(OPEN) ? -1 : __real_open(path, flags, mode);
}

int __wrap_asprintf(char **out, const char *format, ...);

__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list values;
    int size;

    if (fails(ASPRINTF))
        return -1;
    va_start(values, format);
    size = vasprintf(out, format, values);
    va_end(values);
    return size;
}

struct sent_line *__real_sent_line_create(const struct followed *file,
                                          const struct reader_line *line);
struct sent_line *__wrap_sent_line_create(const struct followed *file,
                                          const struct reader_line *line);

struct sent_line *__wrap_sent_line_create(const struct followed *file,
                                          const struct reader_line *line)
{
    return fails(SENT_LINE) ? NULL : __real_sent_line_create(file, line);
}
