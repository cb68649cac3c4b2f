/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_marks.h - marks records in files of dead letters as sent again.
 *
 * A record is known by its id, so it is found also after its file was renamed: the files beside
 * PATH whose names begin with that of PATH are looked at, too. Not synchronised.
 */
#ifndef HOST_DEAD_DEAD_MARKS_H
#define HOST_DEAD_DEAD_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dead_mark {
    uint64_t number;
    bool is_done;
};

/* Zeroed memory has no record to mark. */
struct dead_marks {
    struct dead_mark *list; /* owned */
    size_t count;
    size_t left; /* not done */
};

/* WEIR_ENOMEM. */
int dead_marks_add(struct dead_marks *marks, uint64_t number);
void dead_marks_finish(struct dead_marks *marks);

/* Marks the records with these numbers that the process `run` wrote, and syncs. `left` are those
 * that are not found, or cannot be written. */
void dead_marks_apply(struct dead_marks *marks, uint64_t run, const char *path);

#endif
