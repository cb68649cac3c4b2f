/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <stdio.h>
#include <string.h>

/* In the order of enum statement. */
static const char *const texts[] = {
    "SELECT q.name, p.state, ifnull(length(p.payload), 0) FROM piece p JOIN queue q ON q.id=p.queue"
    " WHERE p.id=?1",
    "UPDATE piece SET state=0, attempt=1, replays=replays+1, reason=NULL, detail=NULL"
    " WHERE id=?1",
    "DELETE FROM piece WHERE id=?1",
    "SELECT id FROM piece WHERE state=2 AND queue=(SELECT id FROM queue WHERE name=?1) AND id>?2"
    " AND id<=?4 ORDER BY id LIMIT ?3",
};

enum statement {
    FIND,
    REPLAY,
    DELETE,
    NEXT_DEAD,
    STATEMENTS,
};

/* While an order is carried out. */
struct work {
    struct store *store;
    const struct order *order;
    struct order_answer *answer;
    bool (*is_in_work)(void *context, int64_t id);
    void *context;
    sqlite3_stmt *statements[STATEMENTS];
};

/* A piece of an order, as the file has it. */
struct target {
    struct store_queue *queue;
    int state; /* enum store_state */
    uint64_t size;
};

bool order_is_valid(const struct order *order, size_t size)
{
    return size == sizeof *order && order->size == sizeof *order && order->verb <= ORDER_DELETE &&
           order->count <= ORDER_IDS_MAX && memchr(order->queue, '\0', sizeof order->queue) != NULL;
}

void order_fail(struct order_answer *answer, enum order_status status, const char *error)
{
    *answer = (struct order_answer){ .size = sizeof *answer, .status = status };
    (void)snprintf(answer->error, sizeof answer->error, "%s", error);
}

static int prepare(struct work *work)
{
    for (size_t i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v2(work->store->connection, texts[i], -1, &work->statements[i], NULL) !=
            SQLITE_OK)
            return store_fail(work->store, "read");
    return 0;
}

/* 1: the piece is there; 0: it is not; -1: `error`. */
static int find(struct work *work, int64_t id, struct target *out)
{
    sqlite3_stmt *statement = work->statements[FIND];
    int code, found = 0;

    (void)sqlite3_bind_int64(statement, 1, id);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        out->queue = store_queue(work->store, (const char *)sqlite3_column_text(statement, 0));
        out->state = sqlite3_column_int(statement, 1);
        out->size = (uint64_t)sqlite3_column_int64(statement, 2);
        found = out->queue ? 1 : -1;
    } else if (code != SQLITE_DONE) {
        (void)store_fail(work->store, "read");
        found = -1;
    }
    (void)sqlite3_reset(statement);
    return found;
}

static int change(struct work *work, int64_t id, const struct target *target)
{
    bool deletes = work->order->verb == ORDER_DELETE;
    sqlite3_stmt *statement = work->statements[deletes ? DELETE : REPLAY];
    int code;

    if (deletes && store_unsee(work->store, id) != 0)
        return -1;
    (void)sqlite3_bind_int64(statement, 1, id);
    code = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    if (code != SQLITE_DONE)
        return store_fail(work->store, "write");
    if (deletes) {
        target->queue->now.pieces--;
        target->queue->now.bytes -= target->size;
        target->queue->is_touched = true;
    }
    work->answer->done++;
    return 0;
}

/* What an order may do with a piece in this state. */
static uint8_t result_of(const struct work *work, int64_t id, int state)
{
    if (work->order->verb == ORDER_REPLAY && state != STORE_DEAD)
        return ORDER_NOT_DEAD;
    return state == STORE_READY && work->is_in_work(work->context, id) ? ORDER_IN_WORK : ORDER_DONE;
}

static int carry_out_one(struct work *work, int64_t id, uint8_t *out_result)
{
    struct target target = { .queue = NULL };
    int found = find(work, id, &target);

    if (found < 0)
        return -1;
    *out_result = found > 0 ? result_of(work, id, target.state) : ORDER_MISSING;
    return *out_result == ORDER_DONE ? change(work, id, &target) : 0;
}

/* Reads the ids before the first change. Returns their number, or -1. */
static int read_dead(struct work *work, int64_t ids[ORDER_IDS_MAX])
{
    sqlite3_stmt *statement = work->statements[NEXT_DEAD];
    int code, count = 0;

    (void)sqlite3_bind_text(statement, 1, work->order->queue, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 2, work->order->after);
    (void)sqlite3_bind_int64(statement, 3, ORDER_IDS_MAX);
    (void)sqlite3_bind_int64(statement, 4, work->order->most);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && count < (int)ORDER_IDS_MAX)
        ids[count++] = sqlite3_column_int64(statement, 0);
    (void)sqlite3_reset(statement);
    if (code == SQLITE_DONE)
        return count;
    (void)store_fail(work->store, "read");
    return -1;
}

static int carry_out_dead(struct work *work)
{
    int64_t ids[ORDER_IDS_MAX];
    uint8_t result;
    int count = read_dead(work, ids), status = count < 0 ? -1 : 0;

    for (int i = 0; i < count && status == 0; i++)
        status = carry_out_one(work, ids[i], &result);
    work->answer->last = count == (int)ORDER_IDS_MAX ? ids[count - 1] : 0;
    return status;
}

static int carry_out_all(struct work *work)
{
    int status = prepare(work);

    for (uint32_t i = 0; i < work->order->count && status == 0; i++)
        status = carry_out_one(work, work->order->ids[i], &work->answer->results[i]);
    if (status == 0 && work->order->count == 0)
        status = carry_out_dead(work);
    for (size_t i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(work->statements[i]);
    return status;
}

enum store_result order_carry_out(struct store *store, const struct order *order,
                                  bool (*is_in_work)(void *context, int64_t id), void *context,
                                  struct order_answer *out)
{
    struct work work = {
        .store = store, .order = order, .answer = out, .is_in_work = is_in_work, .context = context
    };
    enum store_result result = STORE_FAILED;

    *out = (struct order_answer){ .size = sizeof *out };
    if (order->verb == ORDER_NOTHING)
        return STORE_OK;
    if (store_begin(store, true) == 0 && carry_out_all(&work) == 0)
        result = store_commit(store);
    else
        store_roll_back(store);
    if (result != STORE_OK)
        order_fail(out, result == STORE_FAILED ? ORDER_FAILED : ORDER_IN_DOUBT, store->error);
    return result;
}
