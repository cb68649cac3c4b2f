/* SPDX-License-Identifier: MIT */
#include "database.h"

#include <stddef.h>

bool database_open(sqlite3 **out, const char *path, uint64_t busy_ms)
{
    return sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
           sqlite3_busy_timeout(*out, (int)busy_ms) == SQLITE_OK &&
           /* With a write-ahead log, a commit then waits for no disk, and a crash of the machine
            * loses the last commits only, in their order: no mark outlives earlier results. */
           database_execute(*out, "PRAGMA synchronous = NORMAL");
}

void database_close(sqlite3 *database)
{
    (void)sqlite3_close(database);
}

const char *database_error(sqlite3 *database)
{
    return database ? sqlite3_errmsg(database) : "out of memory";
}

sqlite3_stmt *database_prepare(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    (void)sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    return statement;
}

bool database_run(sqlite3_stmt *statement)
{
    (void)sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK;
}

bool database_execute(sqlite3 *database, const char *sql)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}
