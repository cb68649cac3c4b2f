/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own_locks.h"

#define BUSY_MS 1000 /* another program writes: nobody else should */
#define TIDY_PAGES 256

/* One transaction, whose first statement writes: a file with a head, and without our number, would
 * be refused as one of another program. */
static const char format[] =
    "BEGIN;"
    "PRAGMA auto_vacuum=INCREMENTAL;"
    "PRAGMA application_id=0x57656972;"
    "PRAGMA user_version=2;"
    "CREATE TABLE queue(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, pieces INT NOT NULL,"
    " bytes INT NOT NULL, last_rank INT NOT NULL) STRICT;"
    /* state: 0 ready, 1 later, 2 dead; rowid is reused without AUTOINCREMENT */
    "CREATE TABLE piece(id INTEGER PRIMARY KEY AUTOINCREMENT, queue INT NOT NULL,"
    " state INT NOT NULL, rank INT NOT NULL, due INT, delay INT, attempt INT NOT NULL,"
    " replays INT NOT NULL, made INT, key INT, name TEXT NOT NULL, tag TEXT, layout INT,"
    " reason TEXT, detail TEXT, payload BLOB) STRICT;"
    "CREATE INDEX ready ON piece(queue, rank, id) WHERE state=0;"
    "CREATE INDEX later ON piece(due) WHERE state=1;"
    "CREATE INDEX dead ON piece(queue, id) WHERE state=2;"
    "CREATE TABLE seen(queue INT, name TEXT, until INT NOT NULL, lasts INT NOT NULL,"
    " piece INT NOT NULL, again INT NOT NULL, PRIMARY KEY(queue, name)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX seen_until ON seen(until);"
    "COMMIT";

static const char manners[] = "PRAGMA journal_mode=WAL;"
                              "PRAGMA wal_autocheckpoint=1000;"
                              "PRAGMA journal_size_limit=16777216;"
                              "PRAGMA mmap_size=0";

static int failure_of(struct store *store, int code)
{
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EINVAL;
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return -EACCES;
    case SQLITE_BUSY:
        return -EAGAIN;
    case SQLITE_CANTOPEN:
        return sqlite3_system_errno(store->connection) == EACCES ? -EACCES : -EIO;
    default:
        return -EIO;
    }
}

const char *store_reason(sqlite3 *connection)
{
    int code = sqlite3_extended_errcode(connection);
    bool is_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
    int error = is_system ? sqlite3_system_errno(connection) : 0;

    /* The file is there, and its WAL cannot be made. */
    if (code == SQLITE_READONLY_DIRECTORY || (error == ENOENT && (code & 0xff) == SQLITE_CANTOPEN))
        return "nothing can be written beside it";
    return error != 0 ? strerror(error) : sqlite3_errmsg(connection);
}

int store_fail(struct store *store, const char *what)
{
    int code = store->connection ? sqlite3_extended_errcode(store->connection) : 0;

    store->failure = failure_of(store, code);
    (void)snprintf(store->error, sizeof store->error, "%s: %s (%d)", what,
                   store->connection ? store_reason(store->connection) : "memory is out", code);
    return -1;
}

static int execute(struct store *store, const char *sql)
{
    return sqlite3_exec(store->connection, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : store_fail(store, "SQLite");
}

/* --- the connection --------------------------------------------------------------------------- */

static void disconnect(struct store *store, bool is_well)
{
    if (!store->connection)
        return;
    for (size_t i = 0; i < STORE_STATEMENTS; i++) {
        (void)sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    if (!is_well)
        (void)sqlite3_db_config(store->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_close(store->connection);
    store->connection = NULL;
}

/* The number that a pragma of one row says; -1: none. */
static int64_t ask(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;

    if (sqlite3_prepare_v2(store->connection, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return number;
}

static int make(struct store *store)
{
    int status = execute(store, "PRAGMA page_size=4096; PRAGMA synchronous=EXTRA");

    return status == 0 ? execute(store, format) : status;
}

/* A file that was killed while it was made has no table. What the head did not say, the WAL may. */
static int check_format(struct store *store)
{
    int64_t tables = ask(store, "SELECT count(*) FROM sqlite_schema");

    if (tables < 0) /* another program has locked the file, for one */
        return store_fail(store, "SQLite");
    if (tables == 0)
        return make(store);
    if (ask(store, "PRAGMA application_id") != PLACE_APPLICATION ||
        ask(store, "PRAGMA user_version") != PLACE_FORMAT) {
        (void)snprintf(store->error, sizeof store->error, "it is damaged, or of another program");
        store->failure = -EINVAL;
        return -1;
    }
    return 0;
}

static int check_damage(struct store *store)
{
    sqlite3_stmt *statement = NULL;
    int status = -1;

    if (sqlite3_prepare_v2(store->connection, "PRAGMA quick_check(1)", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);

        status = text && strcmp(text, "ok") == 0 ? 0 : -1;
        store->failure = status != 0 ? -EINVAL : 0;
        (void)snprintf(store->error, sizeof store->error, "it is damaged: %s", text ? text : "");
    } else {
        (void)store_fail(store, "it is damaged");
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static int read_queues(struct store *store)
{
    int status = 0;

    for (struct store_queue *queue = store->queues; queue && status == 0; queue = queue->next)
        status = store_read_queue(store, queue);
    return status;
}

static int connect(struct store *store, bool checks)
{
    int status = sqlite3_open_v2(store->place.path, &store->connection,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix") == SQLITE_OK
                     ? 0
                     : store_fail(store, "SQLite");

    if (status == 0)
        (void)sqlite3_busy_timeout(store->connection, BUSY_MS);
    if (status == 0)
        status = check_format(store);
    if (status == 0 && checks)
        status = check_damage(store);
    if (status == 0)
        status = execute(store, manners);
    if (status == 0)
        status = store_prepare(store);
    if (status == 0)
        status = read_queues(store);
    if (status == 0 && (store->last_id = store->next_id = store_last_id(store)) < 0)
        status = -1;
    /* Between the look at the path and now it may have got another file. */
    if (status == 0 && (!place_has_file(&store->place) || !place_note_log(&store->place))) {
        (void)snprintf(store->error, sizeof store->error, "it was replaced while it was opened");
        status = -1;
    }
    store->is_full = false;
    if (status != 0)
        disconnect(store, false);
    return status;
}

int store_open(struct store *store, const char *path)
{
    *store = (struct store){ .doubt_after = -1, .place = { .descriptor = -1, .lock = -1 } };
    if (own_locks_enter() != 0) {
        (void)snprintf(store->error, sizeof store->error, "SQLite has no system calls to replace");
        return -ENOTSUP;
    }
    return place_open(&store->place, path, store->error);
}

int store_connect(struct store *store)
{
    int status = connect(store, true);

    if (status == 0 && !place_sync_folder(&store->place)) {
        (void)snprintf(store->error, sizeof store->error, "its folder cannot be synced");
        status = -1;
    }
    if (status == 0)
        return 0;
    store_close(store, false);
    return store->failure != 0 ? store->failure : -EIO;
}

void store_close(struct store *store, bool is_well)
{
    struct store_queue *next;

    disconnect(store, is_well);
    place_close(&store->place);
    for (struct store_queue *queue = store->queues; queue; queue = next) {
        next = queue->next;
        free(queue);
    }
    store->queues = NULL;
}

struct store_queue *store_queue(struct store *store, const char *name)
{
    struct store_queue *queue = store->queues;

    while (queue && strcmp(queue->name, name) != 0)
        queue = queue->next;
    if (queue)
        return queue;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    (void)snprintf(queue->name, sizeof queue->name, "%s", name);
    if (store->connection && store_read_queue(store, queue) != 0) {
        free(queue);
        return NULL;
    }
    queue->next = store->queues;
    store->queues = queue;
    return queue;
}

/* --- transactions ----------------------------------------------------------------------------- */

int store_begin(struct store *store, bool is_full)
{
    if (is_full != store->is_full &&
        execute(store, is_full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL") != 0)
        return -1;
    store->is_full = is_full;
    return execute(store, "BEGIN IMMEDIATE");
}

static void restore(struct store *store)
{
    for (struct store_queue *queue = store->queues; queue; queue = queue->next) {
        queue->now = queue->committed;
        if (queue->is_added)
            queue->id = 0;
        queue->is_touched = queue->is_added = false;
    }
    store->next_id = store->last_id;
}

void store_roll_back(struct store *store)
{
    if (store->connection && !sqlite3_get_autocommit(store->connection))
        (void)sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
    restore(store);
}

/* A write that found no room has written no commit. Of any other failure nothing is known. */
static enum store_result fail_commit(struct store *store)
{
    int code = sqlite3_extended_errcode(store->connection) & 0xff;

    (void)store_fail(store, "commit");
    store_roll_back(store);
    if (code == SQLITE_FULL || code == SQLITE_BUSY)
        return STORE_FAILED;
    return STORE_IN_DOUBT;
}

bool store_is_there(struct store *store)
{
    if (place_has_file(&store->place) && place_has_log(&store->place))
        return true;
    (void)snprintf(store->error, sizeof store->error, "%s was removed or replaced",
                   place_has_file(&store->place) ? "its WAL" : "the file");
    return false;
}

enum store_result store_commit(struct store *store)
{
    int64_t last = store->doubt_after >= 0 ? store->doubt_after : store->last_id;
    enum store_result result = STORE_OK;

    if (store_write_queues(store) != 0) {
        store_roll_back(store);
        return STORE_FAILED;
    }
    if (sqlite3_exec(store->connection, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        result = fail_commit(store);
    else if (!store_is_there(store))
        result = STORE_IN_DOUBT;
    if (result == STORE_IN_DOUBT)
        store->doubt_after = last;
    if (result != STORE_OK)
        return result;
    for (struct store_queue *queue = store->queues; queue; queue = queue->next) {
        queue->committed = queue->now;
        queue->is_touched = queue->is_added = false;
    }
    store->last_id = store->next_id;
    return STORE_OK;
}

/* --- recovering ------------------------------------------------------------------------------- */

/* The kernel drops what it could not sync, and says so once. A checkpoint writes and syncs all that
 * the WAL has; the WAL is empty then. */
static int copy_log(struct store *store)
{
    int status;

    if (execute(store, "PRAGMA synchronous=FULL") != 0)
        return -1;
    store->is_full = true;
    status = sqlite3_wal_checkpoint_v2(store->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                       NULL);
    return status == SQLITE_OK ? 0 : store_fail(store, "checkpoint");
}

int store_recover(struct store *store)
{
    if (!place_has_file(&store->place)) {
        (void)store_is_there(store);
        return -1;
    }
    /* Nobody but this connection has a WAL that was unlinked. */
    if (store->connection && !place_has_log(&store->place) && copy_log(store) != 0)
        return -1;
    disconnect(store, false);
    if (connect(store, false) != 0)
        return -1;
    if (copy_log(store) != 0 || !store_is_there(store)) {
        disconnect(store, false);
        return -1;
    }
    return 0;
}

static bool is_passing(int code)
{
    return code == SQLITE_OK || (code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_BUSY;
}

int store_tidy(struct store *store)
{
    int64_t unused = store->connection ? ask(store, "PRAGMA freelist_count") : 0;
    int code;

    if (unused < TIDY_PAGES)
        return 0;
    if (execute(store, "PRAGMA incremental_vacuum(256)") != 0)
        return is_passing(sqlite3_extended_errcode(store->connection)) ? 0 : -1;
    /* The file gets shorter when the WAL is copied into it. A reader may delay that. */
    code = sqlite3_wal_checkpoint_v2(store->connection, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                     NULL);
    if (!is_passing(code))
        return store_fail(store, "checkpoint");
    return ask(store, "PRAGMA freelist_count") < unused ? 1 : 0;
}
