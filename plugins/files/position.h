/* SPDX-License-Identifier: MIT */
/*
 * position.h - the position of `lines` as bytes: the finished files, and the place in the present
 * file.
 *
 * It has names, not numbers: another source may have other files, or the same files in another
 * order.
 */
#ifndef POSITION_H
#define POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of the next line; `path` NULL = in no file. Borrows. */
struct position_here {
    const char *path;
    uint64_t offset;
    uint64_t number; /* lines before it */
};

/* Returns owned, with its size; NULL when memory is out. Borrows. */
void *position_pack(const struct position_here *here, char *const *done, size_t done_count,
                    size_t *out_size);

/* Reads the place. False: the bytes are no position of this plugin. Borrows from `data`. */
bool position_unpack(const void *data, size_t size, struct position_here *out_here);

/*
 * Marks the finished ones of `paths`. WEIR_ENOMEM: none is marked. position_unpack has accepted the
 * bytes.
 */
int position_mark(const void *data, size_t size, char *const *paths, size_t count, bool *out_done);

#endif
