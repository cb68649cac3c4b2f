/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_waiting.h - the dead letters that are not in the file yet, apart for each owner.
 *
 *      add --> gather --> the text is written --> end
 *
 * An owner, see dead/dead_shares.h, is a stream of the store: its records wait, and are numbered,
 * apart from those of all others. When the owner's share is used up its records are held: they wait
 * here until the file is another one or may be larger. Not synchronised.
 */
#ifndef HOST_DEAD_DEAD_WAITING_H
#define HOST_DEAD_DEAD_WAITING_H

#include "host/dead/dead_batch.h"
#include "host/dead/dead_output.h"

struct dead_owner {
    char *name; /* owned; never changes */
    struct dead_batch batch;
    struct dead_part writing; /* in the text that is written */
    uint64_t number;          /* of the last record that was added */
    uint64_t ended;           /* of the last record that has ended; both within the stream */
    bool is_held;             /* nothing of the batch fits */
    bool is_held_logged;
    bool loses; /* the log has it */
};

struct dead_waiting {
    uint64_t run;              /* of struct dead_id; set by the user */
    struct dead_owner *owners; /* owned; the index is the number of the stream */
    size_t owner_count;
    uint64_t size;          /* bytes of all records */
    uint64_t count;         /* records */
    struct dead_text text;  /* what is written; owned */
    uint64_t writing_count; /* records in it */
};

void dead_waiting_finish(struct dead_waiting *waiting);

/* The owner of `path`, which is added when it is new. NULL: no memory, or too many. Borrowed until
 * the next call. */
struct dead_owner *dead_waiting_owner(struct dead_waiting *waiting, const char *path);
/* True when the owner of `path` has `bound` bytes or more. */
bool dead_waiting_is_full(const struct dead_waiting *waiting, const char *path, size_t bound);

/* Where a record will be written. */
struct dead_place {
    const struct dead_output *output; /* NULL: none, and each record fits */
    uint64_t size_max;                /* of the file; 0 = no bound */
};

/* Adds a record to its owner. Returns its number for the store; 0: no memory, or, without
 * `is_awaited`, no room in the owner's share, or `bound` bytes of it wait. */
uint64_t dead_waiting_add(struct dead_waiting *waiting, struct dead_owner *owner,
                          const struct dead_record *record, uint64_t time_us, bool is_awaited,
                          const struct dead_place *place, size_t bound);

/* Marks a record as sent again. False: it does not wait, or is in the text. */
bool dead_waiting_mark(struct dead_waiting *waiting, uint64_t number);

/* Moves what fits into the empty text. WEIR_ENOMEM: some of it. */
int dead_waiting_gather(struct dead_waiting *waiting, const struct dead_place *place);
/* What is held has ended, too: it moves into the empty text. WEIR_ENOMEM: some of it. */
int dead_waiting_gather_all(struct dead_waiting *waiting);

/* The part of an owner in the text has ended. Returns the number of its last record. */
uint64_t dead_waiting_end_part(struct dead_waiting *waiting, size_t owner);
/* All parts have ended: empties the text. */
void dead_waiting_end(struct dead_waiting *waiting);

/* True when something waits that is not held. */
bool dead_waiting_is_busy(const struct dead_waiting *waiting);
bool dead_waiting_has_held(const struct dead_waiting *waiting);

#endif
