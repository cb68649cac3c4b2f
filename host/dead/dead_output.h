/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_output.h - an open file of dead letters, to which one process appends.
 *
 * The file is locked by flock. When it is opened, an incomplete record at its end, as a host that
 * was killed leaves behind, is cut off. A file of version 1 that has records is renamed, and a new
 * one begins. Not synchronised.
 */
#ifndef HOST_DEAD_OUTPUT_H
#define HOST_DEAD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/dead/dead_shares.h"

#define DEAD_FILE_OLDER ".version-1" /* behind the name of a file that was renamed */

struct dead_output {
    char *path; /* owned */
    int descriptor;
    uint64_t device;           /* of its folder, when it was opened */
    uint64_t size;             /* up to which the file is whole, and on the disk */
    uint64_t records;          /* in it */
    uint64_t cut;              /* bytes that were cut off when it was opened */
    bool is_older;             /* a file of version 1 was renamed when it was opened */
    struct dead_shares shares; /* owned; the caller adds to it what it appends */
};

/* Opens or makes the file, with mode 0600. Returns 0 or an errno, as weir_settling_check; EILSEQ:
 * it is another file, EBUSY: another process has it, EEXIST: two files of version 1. Owned by the
 * caller. */
int dead_output_open(const char *path, struct dead_output **out);
/* NULL is allowed. */
void dead_output_close(struct dead_output *output);

/* Appends `records` records and syncs. Returns 0 or an errno: then the file is as before. ESTALE:
 * it was deleted, so that nobody would find what is appended: make it again. ENODEV: another file
 * system is at its path, so that a file there would be hidden later; it may come back. A file that
 * was renamed, or whose folder was, is written on. */
int dead_output_append(struct dead_output *output, const char *bytes, size_t size,
                       uint64_t records);

/* True when the path still leads to this file. */
bool dead_output_has_its_path(const struct dead_output *output);

/* The clause for an errno of these functions. `text` may be used for it. */
const char *dead_output_reason(const char *path, int error, char *text, size_t size);

#endif
