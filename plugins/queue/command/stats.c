/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "../door.h"
#include "text.h"
#include "view.h"

static const char per_queue[] =
    "SELECT q.name, count(p.id), count(p.id) FILTER (WHERE p.state=0),"
    " count(p.id) FILTER (WHERE p.state=1), count(p.id) FILTER (WHERE p.state=2),"
    " ifnull(sum(length(p.payload)), 0), ifnull(min(p.made) FILTER (WHERE p.state<>2), 0)"
    " FROM queue q LEFT JOIN piece p ON p.queue=q.id WHERE ?1 IS NULL OR q.name=?1"
    " GROUP BY q.id ORDER BY q.name";

static int64_t size_of(const char *file, const char *suffix)
{
    char *path = sqlite3_mprintf("%s%s", file, suffix);
    struct stat about;
    int64_t size = path && stat(path, &about) == 0 ? (int64_t)about.st_size : 0;

    sqlite3_free(path);
    return size;
}

static const char unused_bytes[] =
    "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size";

/* False: SQLite says why. */
static bool ask(sqlite3 *connection, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW;

    if (has)
        *out = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return has;
}

static int64_t number(sqlite3_stmt *row, int column)
{
    return sqlite3_column_int64(row, column);
}

/* The process that has the file; 0: none, or it does not say so. */
static pid_t host_of(const struct call *call)
{
    struct order order = { .size = sizeof order, .verb = ORDER_NOTHING };
    struct order_answer answer;
    pid_t process = 0;

    return door_ask(call->file, &order, &answer, &process) == 0 ? process : 0;
}

static void print_queue(const struct call *call, sqlite3_stmt *row, bool is_first)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    int64_t oldest = number(row, 6);
    char text[TEXT_TIME_SIZE];

    text_time(oldest > 0 ? oldest : -1, text);
    if (!call->is_json) {
        if (is_first)
            (void)printf("%8s  %8s  %8s  %12s  %-24s  %s\n", "READY", "LATER", "DEAD", "BYTES",
                         "OLDEST", "QUEUE");
        (void)printf("%8" PRId64 "  %8" PRId64 "  %8" PRId64 "  %12" PRId64 "  %-24s  ",
                     number(row, 2), number(row, 3), number(row, 4), number(row, 5), text);
        text_print(stdout, name);
        (void)putchar('\n');
        return;
    }
    (void)printf("%s\n  {\"pieces\": %" PRId64, is_first ? "" : ",", number(row, 1));
    text_json(stdout, "queue", name);
    text_json_number(stdout, "ready", number(row, 2));
    text_json_number(stdout, "later", number(row, 3));
    text_json_number(stdout, "dead", number(row, 4));
    text_json_number(stdout, "bytes", number(row, 5));
    text_json(stdout, "oldest", oldest > 0 ? text : NULL);
    (void)putchar('}');
}

/* Returns an exit code. */
static int print_file(const struct call *call, sqlite3 *connection)
{
    int64_t size = size_of(call->file, ""), log = size_of(call->file, "-wal"), unused = 0;
    pid_t host = host_of(call);

    if (!ask(connection, unused_bytes, &unused))
        return view_fail(call, connection);
    if (call->is_json) {
        (void)printf("\n]");
        text_json_number(stdout, "file_bytes", size);
        text_json_number(stdout, "wal_bytes", log);
        text_json_number(stdout, "unused_bytes", unused);
        if (host > 0)
            text_json_number(stdout, "host", host);
        else
            (void)printf(", \"host\": null");
        (void)printf("}\n");
        return EX_OK;
    }
    (void)printf("bytes: %" PRId64 " file, %" PRId64 " unused, %" PRId64 " WAL; ", size, unused,
                 log);
    if (host > 0)
        (void)printf("process %ld has it\n", (long)host);
    else
        (void)printf("no host answers\n");
    return EX_OK;
}

int call_stats(const struct call *call)
{
    sqlite3_stmt *row = NULL;
    int code = EX_OK, step = SQLITE_DONE;
    sqlite3 *connection = view_open(call, &code);
    bool is_first = true;

    if (!connection)
        return code;
    code = view_find_queue(call, connection);
    if (code != EX_OK) {
        (void)sqlite3_close(connection);
        return code;
    }
    if (call->is_json)
        (void)printf("{\"queues\": [");
    if (view_has_tables(connection) != 0) {
        if (sqlite3_prepare_v2(connection, per_queue, -1, &row, NULL) == SQLITE_OK &&
            sqlite3_bind_text(row, 1, call->queue, -1, SQLITE_STATIC) == SQLITE_OK)
            for (; (step = sqlite3_step(row)) == SQLITE_ROW; is_first = false)
                print_queue(call, row, is_first);
        else
            step = SQLITE_ERROR;
    }
    code = step == SQLITE_DONE ? print_file(call, connection) : view_fail(call, connection);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(connection);
    return code == EX_OK ? call_flush(call) : code;
}
