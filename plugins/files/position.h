/*
 * position.h - how far `lines` is, as bytes: which files are done, and where it is in one.
 *
 * Names, not numbers: another source may have other files, or the same in another order.
 */
#ifndef POSITION_H
#define POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the next line begins; `path` NULL = in no file. Borrows. */
struct position_here {
    const char *path;
    uint64_t offset;
    uint64_t number; /* lines before it */
};

/* Returns owned, and its size; NULL when memory is out. Borrows. */
void *position_pack(const struct position_here *here, char *const *done, size_t done_count,
                    size_t *out_size);

/* Fills in where it is. False: it is none of ours. Borrows from `data`. */
bool position_unpack(const void *data, size_t size, struct position_here *out_here);

/*
 * Marks which of `paths` are done. WEIR_ENOMEM: none is marked. The position is one that
 * position_unpack took.
 */
int position_mark(const void *data, size_t size, char *const *paths, size_t count, bool *out_done);

#endif
