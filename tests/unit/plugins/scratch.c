/* SPDX-License-Identifier: MIT */
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#define DESCRIPTORS_MAX 16 /* that nftw may keep open */

void scratch_init(struct scratch *scratch)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(scratch->path, sizeof scratch->path, "%s/weir-test-XXXXXX",
                   base ? base : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(scratch->path));
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

void scratch_finish(struct scratch *scratch)
{
    CU_ASSERT_EQUAL(nftw(scratch->path, remove_one, DESCRIPTORS_MAX, FTW_DEPTH | FTW_PHYS), 0);
}

const char *scratch_path(struct scratch *scratch, const char *name)
{
    int size = snprintf(scratch->text, sizeof scratch->text, "%s/%s", scratch->path, name);

    CU_ASSERT_FATAL(size > 0 && (size_t)size < sizeof scratch->text);
    return scratch->text;
}

const char *scratch_write_size(struct scratch *scratch, const char *name, const char *bytes,
                               size_t size)
{
    FILE *file = fopen(scratch_path(scratch, name), "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    CU_ASSERT_EQUAL(fclose(file), 0);
    return scratch->text;
}

const char *scratch_write(struct scratch *scratch, const char *name, const char *text)
{
    return scratch_write_size(scratch, name, text, strlen(text));
}

const char *scratch_directory(struct scratch *scratch, const char *name)
{
    CU_ASSERT_EQUAL_FATAL(mkdir(scratch_path(scratch, name), 0755), 0);
    return scratch->text;
}

char *scratch_read(struct scratch *scratch, const char *name)
{
    FILE *file = fopen(scratch_path(scratch, name), "r");
    char *text = NULL;
    size_t room = 0;
    ssize_t size;

    if (!file)
        return NULL;
    size = getdelim(&text, &room, '\0', file);
    (void)fclose(file);
    if (size >= 0)
        return text;
    free(text);
    return strdup("");
}
