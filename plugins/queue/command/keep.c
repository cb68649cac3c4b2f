/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "text.h"
#include "view.h"

/* --- backup ----------------------------------------------------------------------------------- */

/* The new file and its name are on the disk. */
static int sync_copy(const struct call *call, const char *to)
{
    int file = open(to, O_RDONLY | O_CLOEXEC), folder = place_open_folder(to);
    int code = EX_OK;

    if (file < 0 || folder < 0 || fsync(file) < 0 || fsync(folder) < 0)
        code = call_fail(call, EX_IOERR, "%s cannot be synced: %s", to, strerror(errno));
    if (file >= 0)
        (void)close(file);
    if (folder >= 0)
        (void)close(folder);
    return code;
}

/* SQLite writes into a file that is there and empty. */
static int make(const struct call *call, const char *to)
{
    int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (file < 0)
        return call_fail(call, EX_CANTCREAT, "%s: %s", to, strerror(errno));
    (void)close(file);
    return EX_OK;
}

static int copy(const struct call *call, sqlite3 *connection, const char *to)
{
    sqlite3_stmt *statement = NULL;
    char *name = view_name(to);
    int code = EX_OK;

    if (!name)
        return call_fail(call, EX_SOFTWARE, "memory is out");
    if (sqlite3_prepare_v2(connection, "VACUUM INTO ?1", -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE)
        code = view_fail(call, connection);
    (void)sqlite3_finalize(statement);
    free(name);
    return code;
}

int call_backup(const struct call *call)
{
    const char *to = call->arguments[0];
    int code = EX_OK;
    sqlite3 *connection = view_open(call, &code);

    if (!connection)
        return code;
    code = make(call, to);
    if (code == EX_OK) {
        /* The copy of a file without tables is an empty file, as that of a new queue. */
        if (view_has_tables(connection) != 0)
            code = copy(call, connection, to);
        if (code == EX_OK)
            code = sync_copy(call, to);
        if (code != EX_OK)
            (void)unlink(to);
    }
    (void)sqlite3_close(connection);
    return code;
}

/* --- check ------------------------------------------------------------------------------------ */

static void print_problem(const struct call *call, const char *text, bool is_first)
{
    if (call->is_json) {
        (void)fputs(is_first ? "" : ", ", stdout);
        text_json_string(stdout, text);
    } else {
        text_print(stdout, text);
        (void)putchar('\n');
    }
}

/* Each row that a statement returns is damage. Returns their number, or -1. */
static int print_rows(const struct call *call, sqlite3 *connection, const char *sql)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(connection, sql, -1, &row, NULL), count = 0;

    while (code == SQLITE_OK || code == SQLITE_ROW) {
        const char *text;

        code = sqlite3_step(row);
        if (code != SQLITE_ROW)
            break;
        text = (const char *)sqlite3_column_text(row, 0);
        if (text && strcmp(text, "ok") == 0)
            continue;
        print_problem(call, text ? text : "", count++ == 0);
    }
    (void)sqlite3_finalize(row);
    return code == SQLITE_DONE ? count : -1;
}

int call_check(const struct call *call)
{
    static const char *const questions[] = {
        "PRAGMA integrity_check",
        "SELECT 'piece ' || id || ' is of no queue' FROM piece"
        " WHERE queue NOT IN (SELECT id FROM queue)",
        "SELECT 'piece ' || id || ' has state ' || state FROM piece WHERE state NOT IN (0, 1, 2)",
        "SELECT 'piece ' || id || ' waits for no time' FROM piece WHERE state=1 AND due IS NULL",
    };
    size_t count = sizeof questions / sizeof *questions;
    int code = EX_OK;
    sqlite3 *connection = view_open(call, &code);

    if (!connection)
        return code;
    if (call->is_json)
        (void)fputs("{\"problems\": [", stdout);
    if (view_has_tables(connection) == 0)
        count = 1; /* the others ask about pieces */
    for (size_t i = 0; i < count && code == EX_OK; i++) {
        int found = print_rows(call, connection, questions[i]);

        if (found != 0) /* what a damaged file says about its pieces is worth nothing */
            code = found < 0 ? view_fail(call, connection) : EX_DATAERR;
    }
    (void)sqlite3_close(connection);
    if (call->is_json)
        (void)puts("]}");
    else if (code == EX_OK)
        (void)puts("ok");
    return code == EX_OK ? call_flush(call) : code;
}
