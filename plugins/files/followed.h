/* SPDX-License-Identifier: MIT */
/*
 * followed.h - the files that `tail` follows, and the lines of them that are not settled.
 *
 * A file is followed until it has another name or none, is read to its end, and all its lines are
 * settled. Not synchronised.
 */
#ifndef FOLLOWED_H
#define FOLLOWED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "bookmark.h"
#include "sent_line.h"

struct followed {
    char *path;   /* owned: its name when it was found */
    char *former; /* owned: its name before that; NULL = none */
    char *folder; /* owned: where it was found, links resolved; NULL = not known */
    dev_t device;
    ino_t inode;
    int descriptor;   /* owned; -1: parked */
    uint64_t offset;  /* where the line begins that is read next */
    uint64_t number;  /* lines before it */
    uint64_t scanned; /* no line ends between `offset` and here, if it is more */
    uint64_t size;    /* of the file, at the last check */
    uint64_t tried;   /* the size up to which it was read: there may be half a line at its end */
    int read_error;   /* of the last read; the next check tries again. 0: none */
    struct timespec changed;       /* at the last check */
    struct weir_fingerprint print; /* of what was read, or of the first bytes before that */
    /* When it was truncated; no names. `offset` 0: it was not, or its copy is found. */
    struct bookmark_entry before;
    struct followed *for_copy; /* owned: has the lines of then that are not settled; NULL = none */
    struct bookmark_entry
        saved; /* the last position; borrows its names. `is_saved`: there is one */
    bool is_saved;
    bool is_gone;                   /* its name is that of another file, or of none */
    uint64_t quiet_ms;              /* when it was seen to be gone, or grew after that */
    struct sent_line *first, *last; /* its lines that are not settled, in order */
    struct followed *next;
    struct followed *next_in_bucket; /* of the follower's index */
};

/* Takes the descriptor. Returns owned; NULL when memory is out, or it is no regular file: the
 * descriptor is closed then. */
struct followed *followed_create(const char *path, int descriptor);
/* Opens a file, without waiting for the other end of a FIFO; `name` becomes its path. As
 * followed_create; NULL: errno. */
struct followed *followed_open(const char *path, const char *name);
/* Its lines belong to no file then. NULL is allowed. */
void followed_destroy(struct followed *file);

/* Closes the descriptor of a file that is read to its end, with all lines settled, until it
 * changes: for a host that has few. False: it is none of these. */
bool followed_park(struct followed *file);
/* True for a parked file that has the same name, size and time as then. */
bool followed_rests(const struct followed *file);

/* The next line to read is the one that is written next. */
void followed_skip(struct followed *file);
/* False: the next check finds what was read of it no longer there. Call it before its next lines
 * are read: since the last check the file may have been truncated and have grown again. */
bool followed_is_as_before(const struct followed *file);
/* Checks the size of the file, and whether what was read of it is still there. If not (it was
 * truncated), it is read from its start, and true is returned. */
bool followed_look(struct followed *file);
/* Hashes what was read since the last time, or before that the first bytes: call it before the
 * first lines are read. True: it did, and what was hashed before is still there. */
bool followed_note(struct followed *file);

/* True when there may be a line to read. */
bool followed_has_more(const struct followed *file);
/* Lines from the first that is not settled to the next one to read. */
uint64_t followed_window(const struct followed *file);
/* The place up to which the file is settled. Its path and its folder are borrowed. */
const struct bookmark_entry *followed_entry(struct followed *file);

/* Appends a line to the list of lines that are not settled. */
void followed_add(struct followed *file, struct sent_line *line);
/* A file that was truncated, and its copy, which has no lines yet: it gets those that are not
 * settled, so that its position stays before them. */
void followed_take_lines(struct followed *copy, struct followed *file);
/* Takes it out. */
void followed_remove(struct sent_line *line);

#endif
