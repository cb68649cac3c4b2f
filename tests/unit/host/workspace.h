/* SPDX-License-Identifier: MIT */
/*
 * workspace.h - a private directory for a test that needs files.
 *
 * It is flat; workspace_finish removes it with all files.
 */
#ifndef TESTS_UNIT_HOST_WORKSPACE_H
#define TESTS_UNIT_HOST_WORKSPACE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

struct workspace {
    char path[64];
};

/* Makes the directory; the test ends here when it cannot. */
static inline void workspace_init(struct workspace *workspace)
{
    (void)snprintf(workspace->path, sizeof workspace->path, "/tmp/weir-test.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(workspace->path));
}

/* Writes the path of `name` in it to `out` of 256 bytes, and answers it. */
static inline const char *workspace_path(const struct workspace *workspace, const char *name,
                                         char *out)
{
    (void)snprintf(out, 256, "%s/%.180s", workspace->path, name);
    return out;
}

/* The whole of a file, owned; the test ends here when there is none. */
static inline char *workspace_read(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    long size;

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    bytes = malloc((size_t)size + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    *out_size = fread(bytes, 1, (size_t)size, file);
    bytes[*out_size] = '\0';
    fclose(file);
    return bytes;
}

/* Overwrites a file in place. */
static inline void workspace_write(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static inline void workspace_copy(const char *from, const char *to)
{
    size_t size;
    char *bytes = workspace_read(from, &size);

    workspace_write(to, bytes, size);
    free(bytes);
}

/* How many entries it has. */
static inline size_t workspace_count(const char *path)
{
    DIR *directory = opendir(path);
    size_t count = 0;

    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

static inline void workspace_finish(struct workspace *workspace)
{
    DIR *directory = opendir(workspace->path);
    char path[512];

    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        (void)snprintf(path, sizeof path, "%s/%s", workspace->path, entry->d_name);
        (void)remove(path);
    }
    if (directory)
        closedir(directory);
    CU_ASSERT_EQUAL(rmdir(workspace->path), 0);
}

#endif
