/* SPDX-License-Identifier: MIT */
/*
 * bookmark.h - how far files were read, as bytes: the position of `tail`.
 *
 * A file is known by its inode and a hash of the bytes before its position, so that it is found
 * again under another name, and a new file in its place, or with its inode, is not taken for it.
 * Its device says whether its file system is there.
 */
#ifndef BOOKMARK_H
#define BOOKMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/file_identity.h>

struct bookmark_entry {
    char *path;      /* no NUL in it, any other byte */
    char *folder;    /* where the file was, links resolved; NULL = not known (format 1) */
    uint64_t device; /* 0 = not known (format 1) */
    uint64_t inode;
    uint64_t offset;               /* of the first line that is not settled */
    uint64_t number;               /* lines before it */
    uint64_t size;                 /* of the file when the entry was made; UINT64_MAX = not known
                                    * (before format 3) */
    struct weir_fingerprint print; /* up to `offset`, or of more */
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
 * Reads the next entry; `*place` is 0 at first. Returns 1; 0 at the end; WEIR_EINVALID: this is no
 * bookmark; WEIR_ENOMEM. The caller owns its path and its folder: bookmark_entry_finish.
 */
int bookmark_next(const struct bookmark *bookmark, size_t *place, struct bookmark_entry *out_entry);
/* Bytes behind the position that the file had when the entry was made; -1: that is not known. */
int64_t bookmark_entry_unread(const struct bookmark_entry *entry);
/* True when the folder where the file was, or the deepest one above it that is there, is on the
 * device of the file. Positions of format 1 have no device. */
bool bookmark_entry_has_its_device(const struct bookmark_entry *entry);
void bookmark_entry_finish(struct bookmark_entry *entry);

/* Reads a file; a missing file is an empty bookmark. Returns 0 or an errno; ENODATA: the file is
 * empty. */
int bookmark_load(struct bookmark *bookmark, const char *path);
/* Whether the folder of the file lets a bookmark be saved. Returns 0 or an errno. */
int bookmark_check(const char *path);
/* Replaces a file: after a crash it has the old bytes or the new ones. Returns 0 or an errno. */
int bookmark_save(const struct bookmark *bookmark, const char *path);

#endif
