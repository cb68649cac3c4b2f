/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define BUSY_MS 5000     /* while the file is recovered or closed by its host */
#define BATCH_PIECES 500 /* between two writes to the output */
#define BATCH_BYTES 4194304

#define COLUMNS                                                                                    \
    "SELECT p.id, ifnull(q.name, ''), p.state, p.attempt, p.made, p.due, p.key, p.name, p.tag,"    \
    " p.reason, p.detail, ifnull(length(p.payload), 0), CASE WHEN ?4 THEN p.payload END"           \
    " FROM piece p LEFT JOIN queue q ON q.id=p.queue"

static const char by_number[] = COLUMNS " WHERE p.id=?1";
static const char by_filter[] = COLUMNS
    " WHERE p.id>?1 AND (?2<0 OR p.state=?2) AND (?3 IS NULL OR q.name=?3) ORDER BY p.id";
static const char no_piece[] = "SELECT ?1, ?2, ?3, ?4 WHERE 0"; /* of a file without tables */

/* What goes to the output. */
struct view {
    const struct call *call;
    sqlite3_stmt *statement;
    void (*print)(FILE *out, const struct view_piece *piece, bool is_first);
    FILE *batch; /* a temporary file */
    bool has_printed;
    int64_t last;
};

const char *const view_states[STORE_STATES] = { "ready", "later", "dead" };

static int exit_code_of(sqlite3 *connection)
{
    switch (sqlite3_errcode(connection)) {
    case SQLITE_BUSY:
        return EX_TEMPFAIL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return EX_DATAERR;
    case SQLITE_NOMEM:
        return EX_SOFTWARE;
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return EX_NOPERM;
    case SQLITE_CANTOPEN: /* ENOENT: the file is there, and its WAL cannot be made */
        return sqlite3_system_errno(connection) == ENOENT
                   ? EX_NOPERM
                   : call_exit_code(-sqlite3_system_errno(connection));
    default:
        return EX_IOERR;
    }
}

int view_fail(const struct call *call, sqlite3 *connection)
{
    return call_fail(call, exit_code_of(connection), "%s (%d)", store_reason(connection),
                     sqlite3_extended_errcode(connection));
}

char *view_name(const char *path)
{
    char *name = NULL;

    return asprintf(&name, "%s%s", path[0] == '/' ? "" : "./", path) < 0 ? NULL : name;
}

sqlite3 *view_open(const struct call *call, int *out_code)
{
    char *name = view_name(call->file);
    sqlite3 *connection = NULL;
    int code = name ? sqlite3_open_v2(name, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                                      "unix")
                    : SQLITE_NOMEM;

    free(name);
    if (code == SQLITE_OK && sqlite3_busy_timeout(connection, BUSY_MS) == SQLITE_OK)
        return connection;
    *out_code = connection ? view_fail(call, connection)
                           : call_fail(call, EX_SOFTWARE, "memory is out");
    (void)sqlite3_close(connection);
    return NULL;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

/* Returns what SQLite says: a row whose text or payload does not fit into memory is not printed. */
static int print_row(struct view *view)
{
    sqlite3_stmt *row = view->statement;
    struct view_piece piece = { .number = sqlite3_column_int64(row, 0),
                                .queue = text_of(row, 1),
                                .state = sqlite3_column_int(row, 2),
                                .attempt = sqlite3_column_int64(row, 3),
                                .made_ms = sqlite3_column_int64(row, 4),
                                .due_ms = sqlite3_column_int64(row, 5),
                                .key = (uint64_t)sqlite3_column_int64(row, 6),
                                .name = text_of(row, 7),
                                .tag = text_of(row, 8),
                                .reason = text_of(row, 9),
                                .detail = text_of(row, 10),
                                .size = sqlite3_column_int64(row, 11),
                                .payload = sqlite3_column_blob(row, 12) };
    int code = sqlite3_errcode(sqlite3_db_handle(row));

    if (code == SQLITE_NOMEM)
        return code;
    view->print(view->batch, &piece, !view->has_printed);
    view->has_printed = true;
    view->last = piece.number;
    return SQLITE_ROW;
}

/* Reads up to a batch of rows. Returns what SQLite says last. */
static int read_batch(struct view *view)
{
    int code = SQLITE_ROW;

    for (int i = 0; i < BATCH_PIECES && code == SQLITE_ROW && ftell(view->batch) < BATCH_BYTES;
         i++) {
        code = sqlite3_step(view->statement);
        if (code == SQLITE_ROW)
            code = print_row(view);
    }
    (void)sqlite3_reset(view->statement);
    return code;
}

static int copy_batch(struct view *view)
{
    char bytes[16384];
    size_t size;

    if (fflush(view->batch) != 0 || ferror(view->batch))
        return call_fail(view->call, EX_IOERR, "a temporary file: %s", strerror(errno));
    rewind(view->batch);
    while ((size = fread(bytes, 1, sizeof bytes, view->batch)) > 0)
        (void)fwrite(bytes, 1, size, stdout);
    if (ferror(view->batch))
        return call_fail(view->call, EX_IOERR, "a temporary file: %s", strerror(errno));
    return EX_OK;
}

/* One piece or a batch, from `after`. Returns an exit code; `out_more`: SQLite may have more. */
static int print_batch(struct view *view, sqlite3 *connection, int64_t after, bool *out_more)
{
    const struct call *call = view->call;
    int code;

    *out_more = false;
    rewind(view->batch);
    if (ftruncate(fileno(view->batch), 0) < 0)
        return call_fail(call, EX_IOERR, "a temporary file: %s", strerror(errno));
    (void)sqlite3_bind_int64(view->statement, 1, after);
    if (call->count == 0) {
        (void)sqlite3_bind_int(view->statement, 2, call->state);
        (void)sqlite3_bind_text(view->statement, 3, call->queue, -1, SQLITE_STATIC);
    }
    code = read_batch(view);
    if (code == SQLITE_NOMEM)
        return call_fail(call, EX_SOFTWARE, "memory is out at a piece behind %" PRId64, view->last);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return view_fail(call, connection);
    *out_more = code == SQLITE_ROW;
    return copy_batch(view);
}

static int print_numbers(struct view *view, sqlite3 *connection)
{
    static int64_t ids[ORDER_IDS_MAX];
    int result = call_numbers(view->call, ids);

    for (int i = 0; i < view->call->count && (result == 0 || result == EX_DATAERR); i++) {
        bool more;
        int code;

        view->last = 0;
        code = print_batch(view, connection, ids[i], &more);
        if (code != EX_OK)
            return code;
        if (view->last == 0)
            result = call_fail(view->call, EX_DATAERR, "there is no piece %" PRId64, ids[i]);
    }
    return result;
}

static int print_all(struct view *view, sqlite3 *connection)
{
    bool more = true;
    int code = EX_OK;

    while (code == EX_OK && more && !ferror(stdout))
        code = print_batch(view, connection, view->last, &more);
    return code;
}

/* A file that was killed while it was made has no tables: it has no pieces. */
int view_has_tables(sqlite3 *connection)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection, "SELECT 1 FROM sqlite_schema", -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

int view_find_queue(const struct call *call, sqlite3 *connection)
{
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_DONE;

    if (!call->queue)
        return EX_OK;
    if (view_has_tables(connection) != 0) {
        code = sqlite3_prepare_v2(connection, "SELECT 1 FROM queue WHERE name=?1", -1, &statement,
                                  NULL);
        if (code == SQLITE_OK)
            code = sqlite3_bind_text(statement, 1, call->queue, -1, SQLITE_STATIC);
        if (code == SQLITE_OK)
            code = sqlite3_step(statement);
    }
    if (code == SQLITE_ROW)
        code = EX_OK;
    else if (code == SQLITE_DONE)
        code = call_fail(call, EX_NOINPUT, "there is no queue %s", call->queue);
    else
        code = view_fail(call, connection);
    (void)sqlite3_finalize(statement);
    return code;
}

static int print_pieces(struct view *view, sqlite3 *connection, bool has_payload)
{
    const struct call *call = view->call;
    const char *sql = view_has_tables(connection) == 0 ? no_piece
                      : call->count > 0                ? by_number
                                                       : by_filter;
    int code;

    if (sqlite3_prepare_v2(connection, sql, -1, &view->statement, NULL) != SQLITE_OK)
        return view_fail(call, connection);
    (void)sqlite3_bind_int(view->statement, 4, has_payload);
    code = call->count > 0 ? print_numbers(view, connection) : print_all(view, connection);
    (void)sqlite3_finalize(view->statement);
    return code;
}

int view_each(const struct call *call, bool has_payload,
              void (*print)(FILE *out, const struct view_piece *piece, bool is_first))
{
    struct view view = { .call = call, .print = print };
    int code = EX_OK;
    sqlite3 *connection = view_open(call, &code);

    if (!connection)
        return code;
    code = view_find_queue(call, connection);
    view.batch = tmpfile();
    if (code == EX_OK)
        code = view.batch ? print_pieces(&view, connection, has_payload)
                          : call_fail(call, EX_IOERR, "a temporary file: %s", strerror(errno));
    if (view.batch)
        (void)fclose(view.batch);
    (void)sqlite3_close(connection);
    return code;
}
