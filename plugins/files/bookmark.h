/*
 * bookmark.h - how far files were read, as bytes: the position of `tail`.
 *
 * A file is known by its inode and a hash of its first bytes, so that it is found again under
 * another name, and a new file in its place, or with its inode, is not taken for it.
 */
#ifndef BOOKMARK_H
#define BOOKMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOKMARK_HEAD_MAX 256u /* bytes that are hashed */

struct bookmark_entry {
    const char *path; /* borrowed; no NUL in it, any other byte */
    uint64_t inode;
    uint64_t offset; /* of the first line that is not settled */
    uint64_t number; /* lines before it */
    uint64_t head;   /* hash of the first `head_size` bytes */
    uint32_t head_size;
};

/* Zeroed memory is an empty bookmark. */
struct bookmark {
    char *text; /* owned */
    size_t size;
};

/* Legal twice. */
void bookmark_finish(struct bookmark *bookmark);
/* Begins a bookmark of no files. WEIR_ENOMEM. */
int bookmark_begin(struct bookmark *bookmark);
/* Appends. WEIR_ENOMEM. Borrows. */
int bookmark_add(struct bookmark *bookmark, const struct bookmark_entry *entry);
/* Copies bytes. WEIR_ENOMEM. */
int bookmark_set(struct bookmark *bookmark, const void *bytes, size_t size);
/*
 * Reads the next entry; `*place` is 0 at first. Returns 1; 0 at the end; -1: this is no bookmark.
 * The path is owned by the caller.
 */
int bookmark_next(const struct bookmark *bookmark, size_t *place, struct bookmark_entry *out_entry,
                  char **out_path);

/* Reads a file; a missing file is an empty bookmark. Returns 0 or an errno. */
int bookmark_load(struct bookmark *bookmark, const char *path);
/* Whether the folder of the file lets a bookmark be saved. Returns 0 or an errno. */
int bookmark_check(const char *path);
/* Replaces a file: after a crash it has the old bytes or the new ones. Returns 0 or an errno. */
int bookmark_save(const struct bookmark *bookmark, const char *path);

#endif
