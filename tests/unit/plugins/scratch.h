/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a temporary directory for a test's files.
 *
 * Life: scratch_init .. scratch_finish. Every failure here fails the test.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stddef.h>

struct scratch {
    char path[256]; /* absolute, without a slash at its end */
    char text[512]; /* the last result of scratch_path */
};

void scratch_init(struct scratch *scratch);
/* Removes everything in it. */
void scratch_finish(struct scratch *scratch);

/* `name` below the directory. Borrowed until the next call. */
const char *scratch_path(struct scratch *scratch, const char *name);
/* Writes a file. Returns its path as scratch_path does. */
const char *scratch_write(struct scratch *scratch, const char *name, const char *text);
const char *scratch_write_size(struct scratch *scratch, const char *name, const char *bytes,
                               size_t size);
/* Makes a directory. Returns its path as scratch_path does. */
const char *scratch_directory(struct scratch *scratch, const char *name);
/* Returns owned: the whole file and a NUL; NULL when there is none. */
char *scratch_read(struct scratch *scratch, const char *name);

#endif
