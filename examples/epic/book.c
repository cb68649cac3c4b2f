/* SPDX-License-Identifier: MIT */
#include "book.h"

#include <stdio.h>
#include <string.h>

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS epics (name TEXT PRIMARY KEY, query TEXT NOT NULL,"
    " mark INTEGER NOT NULL, done INTEGER NOT NULL, failed INTEGER NOT NULL,"
    " finished INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS failures (epic TEXT NOT NULL, id INTEGER NOT NULL,"
    " reason TEXT NOT NULL, PRIMARY KEY (epic, id));";

bool book_init(struct book *book, const char *path, uint64_t busy_ms)
{
    *book = (struct book){ 0 };
    if (!database_open(&book->database, path, busy_ms) || !database_execute(book->database, tables))
        return false;
    book->find = database_prepare(book->database,
                                  "SELECT name, query, mark, done, failed, finished FROM epics"
                                  " WHERE name = ?1 OR (?1 IS NULL AND NOT finished)");
    book->begin = database_prepare(book->database,
                                   "INSERT INTO epics VALUES (?1, ?2, ?3, 0, 0, 0)");
    book->move = database_prepare(book->database, "UPDATE epics SET mark = ?2, done = ?3,"
                                                  " failed = ?4, finished = ?5 WHERE name = ?1");
    book->fail = database_prepare(book->database,
                                  "INSERT OR REPLACE INTO failures VALUES (?1, ?2, ?3)");
    return book->find && book->begin && book->move && book->fail;
}

void book_finish(struct book *book)
{
    (void)sqlite3_finalize(book->find);
    (void)sqlite3_finalize(book->begin);
    (void)sqlite3_finalize(book->move);
    (void)sqlite3_finalize(book->fail);
    (void)sqlite3_finalize(book->batch);
    database_close(book->database);
    *book = (struct book){ 0 };
}

const char *book_error(const struct book *book)
{
    return database_error(book->database);
}

static void read_epic(sqlite3_stmt *row, struct epic *out)
{
    *out = (struct epic){ .mark = sqlite3_column_int64(row, 2),
                          .done = (uint64_t)sqlite3_column_int64(row, 3),
                          .failed = (uint64_t)sqlite3_column_int64(row, 4),
                          .finished = sqlite3_column_int(row, 5) != 0 };
    (void)snprintf(out->name, sizeof out->name, "%s", (const char *)sqlite3_column_text(row, 0));
    (void)snprintf(out->query, sizeof out->query, "%s", (const char *)sqlite3_column_text(row, 1));
}

int book_find(struct book *book, const char *name, struct epic *out)
{
    int step;

    (void)sqlite3_bind_text(book->find, 1, name, -1, SQLITE_TRANSIENT); /* NULL binds NULL */
    step = sqlite3_step(book->find);
    if (step == SQLITE_ROW)
        read_epic(book->find, out);
    (void)sqlite3_reset(book->find);
    if (step == SQLITE_ROW)
        return 1;
    return step == SQLITE_DONE ? 0 : -1;
}

bool book_use(struct book *book, const struct epic *epic)
{
    char sql[BOOK_QUERY_MAX + 80];

    (void)sqlite3_finalize(book->batch);
    /* Each batch is a query of its own, from a key on: no reader stays open between two batches. */
    (void)snprintf(sql, sizeof sql, "SELECT id FROM (%s\n) WHERE id > ?1 ORDER BY id LIMIT ?2",
                   epic->query);
    book->batch = database_prepare(book->database, sql);
    return book->batch && sqlite3_stmt_readonly(book->batch) &&
           sqlite3_bind_parameter_count(book->batch) == 2;
}

bool book_begin(struct book *book, struct epic *epic)
{
    epic->mark = INT64_MIN;
    (void)sqlite3_bind_text(book->begin, 1, epic->name, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_text(book->begin, 2, epic->query, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int64(book->begin, 3, epic->mark);
    return database_run(book->begin);
}

int book_next(struct book *book, int64_t after, uint32_t max, int64_t *out)
{
    int count = 0;

    (void)sqlite3_bind_int64(book->batch, 1, after);
    (void)sqlite3_bind_int64(book->batch, 2, max);
    while (sqlite3_step(book->batch) == SQLITE_ROW && (uint32_t)count < max)
        out[count++] = sqlite3_column_int64(book->batch, 0);
    return sqlite3_reset(book->batch) == SQLITE_OK ? count : -1;
}

static bool write_failures(struct book *book, const struct epic *epic, struct window *window,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct piece *piece = window_at(window, window->first + i);

        if (piece->state != PIECE_FAILED)
            continue;
        (void)sqlite3_bind_text(book->fail, 1, epic->name, -1, SQLITE_TRANSIENT);
        (void)sqlite3_bind_int64(book->fail, 2, piece->id);
        (void)sqlite3_bind_text(book->fail, 3, piece->reason, -1, SQLITE_TRANSIENT);
        if (!database_run(book->fail))
            return false;
    }
    return true;
}

static bool write_mark(struct book *book, const struct epic *epic)
{
    (void)sqlite3_bind_text(book->move, 1, epic->name, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int64(book->move, 2, epic->mark);
    (void)sqlite3_bind_int64(book->move, 3, (int64_t)epic->done);
    (void)sqlite3_bind_int64(book->move, 4, (int64_t)epic->failed);
    (void)sqlite3_bind_int(book->move, 5, epic->finished);
    return database_run(book->move);
}

/* The Epic behind `count` settled pieces. */
static struct epic advance(const struct epic *epic, struct window *window, uint32_t count,
                           bool finished)
{
    struct epic moved = *epic;

    for (uint32_t i = 0; i < count; i++) {
        const struct piece *piece = window_at(window, window->first + i);

        moved.done += piece->state == PIECE_DONE;
        moved.failed += piece->state == PIECE_FAILED;
        moved.mark = piece->id;
    }
    moved.finished = finished;
    return moved;
}

bool book_move(struct book *book, struct epic *epic, struct window *window, uint32_t count,
               bool finished)
{
    const struct epic moved = advance(epic, window, count, finished);

    if (!database_execute(book->database, "BEGIN IMMEDIATE"))
        return false;
    if (!write_failures(book, epic, window, count) || !write_mark(book, &moved) ||
        !database_execute(book->database, "COMMIT")) {
        (void)database_execute(book->database, "ROLLBACK");
        return false;
    }
    window_drop(window, count);
    *epic = moved;
    return true;
}
