/* SPDX-License-Identifier: MIT */
/*
 * database.h - a connection to the SQLite database, of one actor.
 */
#ifndef DATABASE_H
#define DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Opens a file that exists. A statement waits up to `busy_ms` for a lock of another connection.
 * False: database_error has the reason. In both cases database_close is due. */
bool database_open(sqlite3 **out, const char *path, uint64_t busy_ms);
/* NULL is allowed. All statements must be finalised before. */
void database_close(sqlite3 *database);
/* Borrowed until the next call of SQLite. */
const char *database_error(sqlite3 *database);

/* Returns owned; NULL: database_error has the reason. */
sqlite3_stmt *database_prepare(sqlite3 *database, const char *sql);
/* Runs a statement that gives no row, and resets it. False: database_error has the reason. */
bool database_run(sqlite3_stmt *statement);
/* Runs text. False: database_error has the reason. */
bool database_execute(sqlite3 *database, const char *sql);

#endif
