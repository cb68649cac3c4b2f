/* SPDX-License-Identifier: MIT */
/*
 * view.h - looks into a file of queues, also while a host has it: a connection that only reads.
 *
 * A reader hinders no commit, but while it reads no page of the WAL is used again. So what is
 * printed goes through a temporary file: no statement is open while somebody reads the output
 * slowly, and a lack of memory or of room is an error, not a piece that is missing.
 */
#ifndef VIEW_H
#define VIEW_H

#include "call.h"

/* One piece as the file has it. Texts are borrowed until the next row; NULL = none. */
struct view_piece {
    int64_t number;
    const char *queue;
    int state;                        /* enum store_state */
    int64_t attempt, made_ms, due_ms; /* due_ms 0 = none */
    uint64_t key;                     /* 0 = none */
    const char *name, *tag, *reason, *detail;
    int64_t size;
    const void *payload; /* NULL unless it was asked for, or empty */
};

/* Opens the file of the call. NULL: printed why; `out_code`. */
extern const char *const view_states[STORE_STATES];

sqlite3 *view_open(const struct call *call, int *out_code);

/* The name that SQLite is given for a path: `:memory:` and `file:x` are files, too. To be freed;
 * NULL: memory is out. */
char *view_name(const char *path);
/* 1; 0: it was killed while it was made, or is empty; -1: it cannot be read. */
int view_has_tables(sqlite3 *connection);
/* Prints what SQLite says, and returns the exit code. */
int view_fail(const struct call *call, sqlite3 *connection);
/* EX_OK when the call names no queue, or one that the file has; else an exit code, EX_NOINPUT when
 * the file has none of this name, after the mistake was printed. */
int view_find_queue(const struct call *call, sqlite3 *connection);

/*
 * Calls `print` for each piece that the call asks for, by its numbers or by state and queue, in the
 * order of the numbers. Returns an exit code: EX_DATAERR when a number is no piece,
 * EX_NOINPUT when the file has no such queue.
 */
int view_each(const struct call *call, bool has_payload,
              void (*print)(FILE *out, const struct view_piece *piece, bool is_first));

#endif
