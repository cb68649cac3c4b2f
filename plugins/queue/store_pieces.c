/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "store.h"

/* In the order of enum store_statement. */
static const char *const texts[STORE_STATEMENTS] = {
    "INSERT INTO piece(queue, state, rank, attempt, replays, made, key, name, tag, layout, payload,"
    " due, delay) VALUES(?1, ?10 IS NOT NULL, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    "DELETE FROM piece WHERE id=?1 AND state=0",
    "UPDATE piece SET state=1, attempt=?2, due=?3, delay=?4 WHERE id=?1 AND state=0",
    "UPDATE piece SET state=2, attempt=?2, reason=?3, detail=?4 WHERE id=?1 AND state=0",
    "UPDATE piece SET state=0, due=NULL, delay=NULL WHERE state=1 AND due<=?1",
    "UPDATE piece SET due=?1+delay WHERE state=1 AND due>?1+delay",
    "UPDATE seen SET until=?1+lasts WHERE until>?1+lasts",
    "SELECT id, rank, attempt, key, name, tag, layout, payload, replays FROM piece"
    " WHERE state=0 AND queue=?1 AND (rank, id)>(?2, ?3) ORDER BY rank, id",
    "SELECT due FROM piece WHERE state=1 ORDER BY due LIMIT 1",
    "SELECT until FROM seen ORDER BY until LIMIT 1",
    "SELECT 1 FROM piece WHERE id>?1 AND name=?2",
    "SELECT seq FROM sqlite_sequence WHERE name='piece'",
    "INSERT INTO queue(name, pieces, bytes, last_rank) VALUES(?1, 0, 0, 0)",
    "SELECT id, last_rank FROM queue WHERE name=?1",
    "SELECT count(*), ifnull(sum(length(payload)), 0) FROM piece WHERE queue=?1",
    "UPDATE queue SET pieces=?2, bytes=?3, last_rank=?4 WHERE id=?1",
    "SELECT until FROM seen WHERE queue=?1 AND name=?2",
    "INSERT INTO seen(queue, name, until, piece, lasts, again) VALUES(?1, ?2, ?3, ?4, ?5, 0)"
    " ON CONFLICT(queue, name) DO UPDATE SET until=?3, piece=?4, lasts=?5, again=0",
    "UPDATE seen SET until=min(until, ?3), again=again+1 WHERE queue=?1 AND name=?2",
    "DELETE FROM seen WHERE piece=?1 AND (queue, name)="
    "(SELECT queue, name FROM piece WHERE id=?1)",
    "DELETE FROM seen WHERE (queue, name) IN"
    " (SELECT queue, name FROM seen WHERE until<=?1 LIMIT 1000)",
};

int store_prepare(struct store *store)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < STORE_STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(store->connection, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                  &store->statements[i], NULL);
    if (code == SQLITE_OK)
        return 0;
    (void)store_fail(store, "it is damaged");
    if (code == SQLITE_ERROR) /* a table is missing, or is another one */
        store->failure = -EINVAL;
    return -1;
}

/* A statement that is not reset keeps a transaction open. */
static void reset(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

int store_run(struct store *store, enum store_statement which)
{
    sqlite3_stmt *statement = store->statements[which];
    int code = sqlite3_step(statement), status = 0;

    if (code != SQLITE_DONE)
        status = store_fail(store, "write");
    reset(statement);
    return status;
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    (void)sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

/* --- queues ----------------------------------------------------------------------------------- */

int store_read_queue(struct store *store, struct store_queue *queue)
{
    sqlite3_stmt *get = store->statements[STORE_GET_QUEUE];
    sqlite3_stmt *count = store->statements[STORE_COUNT_QUEUE];
    struct store_figures figures = { 0, 0, 0 };
    int code;

    bind_text(get, 1, queue->name);
    code = sqlite3_step(get);
    queue->id = code == SQLITE_ROW ? sqlite3_column_int64(get, 0) : 0;
    figures.last_rank = code == SQLITE_ROW ? sqlite3_column_int64(get, 1) : 0;
    reset(get);
    if (code == SQLITE_ROW) {
        (void)sqlite3_bind_int64(count, 1, queue->id);
        code = sqlite3_step(count);
        if (code == SQLITE_ROW) {
            figures.pieces = (uint64_t)sqlite3_column_int64(count, 0);
            figures.bytes = (uint64_t)sqlite3_column_int64(count, 1);
        }
        reset(count);
    }
    queue->now = queue->committed = figures;
    queue->is_touched = queue->is_added = false;
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : store_fail(store, "read");
}

static int add_queue(struct store *store, struct store_queue *queue)
{
    if (queue->id != 0)
        return 0;
    bind_text(store->statements[STORE_ADD_QUEUE], 1, queue->name);
    if (store_run(store, STORE_ADD_QUEUE) != 0)
        return -1;
    queue->id = sqlite3_last_insert_rowid(store->connection);
    queue->is_added = true;
    return 0;
}

int store_write_queues(struct store *store)
{
    sqlite3_stmt *set = store->statements[STORE_SET_QUEUE];
    int status = 0;

    for (struct store_queue *queue = store->queues; queue && status == 0; queue = queue->next) {
        if (!queue->is_touched)
            continue;
        (void)sqlite3_bind_int64(set, 1, queue->id);
        (void)sqlite3_bind_int64(set, 2, (int64_t)queue->now.pieces);
        (void)sqlite3_bind_int64(set, 3, (int64_t)queue->now.bytes);
        (void)sqlite3_bind_int64(set, 4, queue->now.last_rank);
        status = store_run(store, STORE_SET_QUEUE);
    }
    return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Runs a statement about the name, which is unique from now on for no longer than `unique_ms`. */
static int write_seen(struct store *store, enum store_statement which,
                      const struct store_queue *queue, const struct piece *piece, int64_t now_ms)
{
    sqlite3_stmt *statement = store->statements[which];

    (void)sqlite3_bind_int64(statement, 1, queue->id);
    bind_text(statement, 2, piece->name);
    (void)sqlite3_bind_int64(statement, 3, now_ms + (int64_t)piece->unique_ms);
    if (which == STORE_SET_SEEN) {
        (void)sqlite3_bind_int64(statement, 4, piece->id);
        (void)sqlite3_bind_int64(statement, 5, (int64_t)piece->unique_ms);
    }
    return store_run(store, which);
}

/* 0: the name is not unique. Returns what SQLite says. */
static int get_until(struct store *store, const struct store_queue *queue, const char *name,
                     int64_t *out)
{
    sqlite3_stmt *get = store->statements[STORE_GET_SEEN];
    int code;

    (void)sqlite3_bind_int64(get, 1, queue->id);
    bind_text(get, 2, name);
    code = sqlite3_step(get);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(get, 0) : 0;
    reset(get);
    return code;
}

bool store_is_seen(struct store *store, const struct store_queue *queue, const char *name,
                   int64_t now_ms)
{
    int64_t until;

    return get_until(store, queue, name, &until) == SQLITE_ROW && until > now_ms;
}

/* Sets `is_duplicate`. A duplicate changes the file: the first one may not be synced yet, and only
 * a commit that writes syncs. */
static int look_for_first(struct store *store, const struct store_queue *queue, struct piece *piece,
                          int64_t now_ms)
{
    int64_t until;
    int code = get_until(store, queue, piece->name, &until);

    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return store_fail(store, "read");
    piece->is_duplicate = until > now_ms;
    return piece->is_duplicate ? write_seen(store, STORE_SEE_AGAIN, queue, piece, now_ms) : 0;
}

int store_unsee(struct store *store, int64_t id)
{
    (void)sqlite3_bind_int64(store->statements[STORE_UNSEE], 1, id);
    return store_run(store, STORE_UNSEE);
}

int store_forget_seen(struct store *store, int64_t now_ms)
{
    (void)sqlite3_bind_int64(store->statements[STORE_FORGET_SEEN], 1, now_ms);
    return store_run(store, STORE_FORGET_SEEN);
}

/* The rank before `ahead_ms` never falls, so a clock that is set back changes no order. */
int store_insert(struct store *store, struct store_queue *queue, struct piece *piece,
                 int64_t now_ms)
{
    sqlite3_stmt *insert = store->statements[STORE_INSERT];
    int64_t rank = now_ms > queue->now.last_rank ? now_ms : queue->now.last_rank;

    if (add_queue(store, queue) != 0)
        return -1;
    piece->is_duplicate = false; /* a group that failed may have said so */
    if (piece->unique_ms > 0 && look_for_first(store, queue, piece, now_ms) != 0)
        return -1;
    if (piece->is_duplicate)
        return 0;
    piece->rank = rank - piece->ahead_ms;
    if (piece->delay_ms > 0) {
        (void)sqlite3_bind_int64(insert, 10, now_ms + (int64_t)piece->delay_ms);
        (void)sqlite3_bind_int64(insert, 11, (int64_t)piece->delay_ms);
    }
    (void)sqlite3_bind_int64(insert, 1, queue->id);
    (void)sqlite3_bind_int64(insert, 2, piece->rank);
    (void)sqlite3_bind_int64(insert, 3, piece->attempt);
    (void)sqlite3_bind_int64(insert, 4, now_ms);
    if (piece->key != 0)
        (void)sqlite3_bind_int64(insert, 5, (int64_t)piece->key);
    bind_text(insert, 6, piece->name);
    if (piece->tag[0]) {
        bind_text(insert, 7, piece->tag);
        (void)sqlite3_bind_int(insert, 8, piece->layout);
    }
    (void)sqlite3_bind_blob64(insert, 9, piece->bytes, piece->size, SQLITE_STATIC);
    if (store_run(store, STORE_INSERT) != 0)
        return -1;
    store->next_id = piece->id = sqlite3_last_insert_rowid(store->connection);
    queue->now.last_rank = rank;
    queue->now.pieces++;
    queue->now.bytes += piece->size;
    queue->is_touched = true;
    return piece->unique_ms > 0 ? write_seen(store, STORE_SET_SEEN, queue, piece, now_ms) : 0;
}

int store_remove(struct store *store, struct store_queue *queue, int64_t id, uint64_t size)
{
    (void)sqlite3_bind_int64(store->statements[STORE_REMOVE], 1, id);
    if (store_run(store, STORE_REMOVE) != 0)
        return -1;
    if (sqlite3_changes(store->connection) == 0)
        return 0;
    queue->now.pieces--;
    queue->now.bytes -= size;
    queue->is_touched = true;
    return 0;
}

int store_retry(struct store *store, int64_t id, uint32_t attempt, int64_t due_ms, int64_t delay_ms)
{
    sqlite3_stmt *retry = store->statements[STORE_RETRY];

    (void)sqlite3_bind_int64(retry, 1, id);
    (void)sqlite3_bind_int64(retry, 2, attempt);
    (void)sqlite3_bind_int64(retry, 3, due_ms);
    (void)sqlite3_bind_int64(retry, 4, delay_ms);
    return store_run(store, STORE_RETRY);
}

int store_bury(struct store *store, int64_t id, uint32_t attempt, const char *reason,
               const char *detail)
{
    sqlite3_stmt *bury = store->statements[STORE_BURY];

    (void)sqlite3_bind_int64(bury, 1, id);
    (void)sqlite3_bind_int64(bury, 2, attempt);
    bind_text(bury, 3, reason);
    bind_text(bury, 4, detail);
    if (store_run(store, STORE_BURY) != 0)
        return -1;
    return store_unsee(store, id);
}

int store_promote(struct store *store, int64_t now_ms)
{
    (void)sqlite3_bind_int64(store->statements[STORE_PROMOTE], 1, now_ms);
    if (store_run(store, STORE_PROMOTE) != 0)
        return -1;
    return sqlite3_changes(store->connection);
}

int store_clamp(struct store *store, int64_t now_ms)
{
    (void)sqlite3_bind_int64(store->statements[STORE_CLAMP], 1, now_ms);
    (void)sqlite3_bind_int64(store->statements[STORE_CLAMP_SEEN], 1, now_ms);
    return store_run(store, STORE_CLAMP) != 0 ? -1 : store_run(store, STORE_CLAMP_SEEN);
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct piece *read_piece(sqlite3_stmt *row)
{
    int size = sqlite3_column_bytes(row, 7);
    const void *payload = sqlite3_column_blob(row, 7);
    const char *name = (const char *)sqlite3_column_text(row, 4);
    const char *tag = (const char *)sqlite3_column_text(row, 5);
    struct piece *piece = piece_create((size_t)size);

    if (!piece)
        return NULL;
    piece->id = sqlite3_column_int64(row, 0);
    piece->rank = sqlite3_column_int64(row, 1);
    piece->attempt = (uint32_t)sqlite3_column_int64(row, 2);
    piece->key = (uint64_t)sqlite3_column_int64(row, 3);
    piece->layout = sqlite3_column_int(row, 6);
    piece->replays = (uint32_t)sqlite3_column_int64(row, 8);
    (void)snprintf(piece->name, sizeof piece->name, "%s", name ? name : "");
    (void)snprintf(piece->tag, sizeof piece->tag, "%s", tag ? tag : "");
    if (payload && size > 0)
        memcpy(piece->bytes, payload, (size_t)size);
    return piece;
}

int store_read(struct store *store, const struct store_queue *queue, struct store_cursor *cursor,
               uint32_t count, uint64_t bytes, bool (*skips)(void *context, int64_t id),
               void *context, struct piece_list *out)
{
    sqlite3_stmt *next = store->statements[STORE_NEXT];
    int code = SQLITE_DONE;
    bool is_short = false;

    (void)sqlite3_bind_int64(next, 1, queue->id);
    (void)sqlite3_bind_int64(next, 2, cursor->rank);
    (void)sqlite3_bind_int64(next, 3, cursor->id);
    while (out->count < count && out->bytes < bytes && !is_short &&
           (code = sqlite3_step(next)) == SQLITE_ROW) {
        struct piece *piece = NULL;

        if (!skips(context, sqlite3_column_int64(next, 0))) {
            piece = read_piece(next);
            is_short = piece == NULL;
        }
        if (!is_short)
            *cursor = (struct store_cursor){ sqlite3_column_int64(next, 1),
                                             sqlite3_column_int64(next, 0) };
        if (piece)
            piece_list_append(out, piece);
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        (void)store_fail(store, "read");
    else if (is_short)
        (void)snprintf(store->error, sizeof store->error, "memory is out");
    reset(next);
    return (code == SQLITE_ROW || code == SQLITE_DONE) && !is_short ? 0 : -1;
}

static int64_t read_time(struct store *store, enum store_statement which)
{
    sqlite3_stmt *statement = store->statements[which];
    int code = sqlite3_step(statement);
    int64_t time = code == SQLITE_ROW    ? sqlite3_column_int64(statement, 0)
                   : code == SQLITE_DONE ? STORE_NEVER
                                         : 0;

    reset(statement);
    return time;
}

int64_t store_next_due(struct store *store)
{
    return read_time(store, STORE_NEXT_DUE);
}

int64_t store_next_until(struct store *store)
{
    return read_time(store, STORE_NEXT_UNTIL);
}

int store_has(struct store *store, const char *name)
{
    sqlite3_stmt *find = store->statements[STORE_FIND];
    int code;

    (void)sqlite3_bind_int64(find, 1, store->doubt_after);
    bind_text(find, 2, name);
    code = sqlite3_step(find);
    reset(find);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return code == SQLITE_ROW;
    return store_fail(store, "read");
}

int64_t store_last_id(struct store *store)
{
    sqlite3_stmt *last = store->statements[STORE_LAST_ID];
    int code = sqlite3_step(last);
    int64_t id = code == SQLITE_ROW ? sqlite3_column_int64(last, 0) : 0;

    reset(last);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return id;
    (void)store_fail(store, "read");
    return -1;
}
