/* SPDX-License-Identifier: MIT */
/*
 * store.h - the file of queues: one connection of SQLite, its transactions and its statements.
 *
 * open -> connect -> (begin -> insert, remove, retry, bury, promote -> commit)* -> close. After a
 * commit that says STORE_IN_DOUBT the store is to be recovered: store_recover, until it succeeds.
 *
 * Of one thread, which store_open makes one with locks of its own (own_locks.h). Never in a child
 * of a fork.
 */
#ifndef STORE_H
#define STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "piece.h"
#include "place.h"
#include "settings.h"

#define STORE_NEVER INT64_MAX
#define QUEUE_NAME_SIZE (QUEUE_NAME_MAX + 1)

/* The column `state` of a piece. */
enum store_state {
    STORE_READY,
    STORE_LATER,
    STORE_DEAD,
    STORE_STATES,
};

enum store_statement {
    STORE_INSERT,
    STORE_REMOVE,
    STORE_RETRY,
    STORE_BURY,
    STORE_PROMOTE,
    STORE_CLAMP,
    STORE_CLAMP_SEEN,
    STORE_NEXT,
    STORE_NEXT_DUE,
    STORE_NEXT_UNTIL,
    STORE_FIND,
    STORE_LAST_ID,
    STORE_ADD_QUEUE,
    STORE_GET_QUEUE,
    STORE_COUNT_QUEUE,
    STORE_SET_QUEUE,
    STORE_GET_SEEN,
    STORE_SET_SEEN,
    STORE_SEE_AGAIN,
    STORE_UNSEE,
    STORE_FORGET_SEEN,
    STORE_STATEMENTS,
};

enum store_result {
    STORE_OK = 0,
    STORE_FAILED = 1,   /* nothing of the transaction is in the file */
    STORE_IN_DOUBT = 2, /* all of it or nothing */
};

struct store_figures {
    uint64_t pieces; /* with those that wait for a retry, and dead ones */
    uint64_t bytes;  /* of their payloads */
    int64_t last_rank;
};

struct store_queue {
    struct store_queue *next;
    char name[QUEUE_NAME_SIZE];
    int64_t id; /* of its row; 0 = not read yet */
    struct store_figures now, committed;
    bool is_touched; /* by the open transaction */
    bool is_added;   /* by the open transaction */
};

struct store {
    struct place place;
    sqlite3 *connection; /* NULL = closed; the place stays */
    sqlite3_stmt *statements[STORE_STATEMENTS];
    struct store_queue *queues; /* owned */
    bool is_full;               /* the connection has synchronous=FULL */
    int64_t last_id;            /* the largest that is committed */
    int64_t next_id;            /* the largest with the open transaction */
    int64_t doubt_after;        /* the last id that was known before the first doubt; -1 = none */
    char error[PLACE_REASON_SIZE];
    int failure; /* of `error`, as a negative errno; -EINVAL: SQLite found a page that cannot be */
};

/* A place in the order of a queue. */
struct store_cursor {
    int64_t rank, id;
};

/* Opens or makes the file, and locks it. Returns as place_open, with `error`. */
int store_open(struct store *store, const char *path);
/* Makes the connection, and reads the whole file for damage. Returns 0, or a negative errno with
 * `error`: nothing was changed, and it is closed. -EINVAL: it is damaged. */
int store_connect(struct store *store);
/* Closes without a checkpoint unless `is_well`. */
void store_close(struct store *store, bool is_well);

/* The queue of this name, made by the first commit that touches it. Borrowed until close. NULL:
 * `error`. */
struct store_queue *store_queue(struct store *store, const char *name);

/* Returns 0, or -1 with `error`. `is_full`: a power failure is to lose nothing. */
int store_begin(struct store *store, bool is_full);
/* Commits, and compares file and WAL with those that were opened. */
enum store_result store_commit(struct store *store);
void store_roll_back(struct store *store);
/*
 * After STORE_IN_DOUBT: copies what the WAL has into the file with a sync and opens both again.
 * Returns 0, or -1 with `error`: try again later.
 */
int store_recover(struct store *store);
/* After store_recover: 1 when the file has a piece of this name above `doubt_after`, otherwise 0;
 * -1 with `error`. */
int store_has(struct store *store, const char *name);
/* True when the paths of file and WAL name those that are open. */
bool store_is_there(struct store *store);
/* Gives a part of the unused pages back to the file system. When idle. 0: few are left, or the disk
 * is full; 1: more are left; -1: it has failed, and what is in the file is in doubt. */
int store_tidy(struct store *store);

/* --- store_pieces.c: within a transaction; 0, or -1 with `error` ------------------------------ */

/* Sets `id` and `rank`, or `is_duplicate`. */
int store_insert(struct store *store, struct store_queue *queue, struct piece *piece,
                 int64_t now_ms);
/* The name of this piece may be stored again. */
int store_unsee(struct store *store, int64_t id);
/* Drops some names that are not unique any more. */
int store_forget_seen(struct store *store, int64_t now_ms);
/* These do nothing when the piece is not ready any more: it was done before a doubt. */
int store_remove(struct store *store, struct store_queue *queue, int64_t id, uint64_t size);
int store_retry(struct store *store, int64_t id, uint32_t attempt, int64_t due_ms,
                int64_t delay_ms);
/* Its name may be stored again. */
int store_bury(struct store *store, int64_t id, uint32_t attempt, const char *reason,
               const char *detail);
/* Makes ready what is due. Returns the number of pieces, or -1. */
int store_promote(struct store *store, int64_t now_ms);
/* Shortens waits that a step of the clock has made longer than their delay, or `unique`. */
int store_clamp(struct store *store, int64_t now_ms);
int store_write_queues(struct store *store);

/* --- store_pieces.c: reading ------------------------------------------------------------------ */

/*
 * Appends ready pieces behind the cursor, and moves it, until `count` pieces or `bytes` are there.
 * Leaves out what `skips` says. Returns 0, or -1 with `error`.
 */
int store_read(struct store *store, const struct store_queue *queue, struct store_cursor *cursor,
               uint32_t count, uint64_t bytes, bool (*skips)(void *context, int64_t id),
               void *context, struct piece_list *out);
/* When the next retry is due, or the next name is unique no more, in milliseconds of the clock;
 * STORE_NEVER; 0, which is past, when the file cannot be read: the next group says why. */
int64_t store_next_due(struct store *store);
int64_t store_next_until(struct store *store);
/* True when a piece of this name is not stored now. */
bool store_is_seen(struct store *store, const struct store_queue *queue, const char *name,
                   int64_t now_ms);
/* Reads the figures of a queue. */
int store_read_queue(struct store *store, struct store_queue *queue);
/* The largest id that was ever given; -1: `error`. */
int64_t store_last_id(struct store *store);
/* What the system says of the file after an error of SQLite, or what SQLite says. Borrowed. */
const char *store_reason(sqlite3 *connection);
/* Notes what SQLite says; returns -1. */
int store_fail(struct store *store, const char *what);
/* Runs a statement that returns no row. Returns 0 or -1. */
int store_run(struct store *store, enum store_statement which);
int store_prepare(struct store *store);

#endif
