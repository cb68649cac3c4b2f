/* SPDX-License-Identifier: MIT */
/*
 * Replays or deletes pieces: the host that has the file does it, or this process, which takes the
 * lock of the file then, so that no host has it meanwhile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../door.h"
#include "text.h"
#include "view.h"

/* Who carries out orders. */
struct hand {
    const struct call *call;
    bool is_open;     /* this process has the file */
    bool is_in_doubt; /* what the last commit did */
    struct store store;
};

/* --- orders ----------------------------------------------------------------------------------- */

static bool is_in_work(void *context, int64_t id)
{
    (void)context;
    (void)id;
    return false;
}

/* Takes the lock. Returns an exit code. */
static int open_store(struct hand *hand)
{
    int error = store_open(&hand->store, hand->call->file);

    if (error == 0)
        error = store_connect(&hand->store);
    hand->is_open = error == 0;
    if (error == 0)
        return EX_OK;
    return call_fail(
        hand->call, call_exit_code(error), "%s%s", hand->store.error,
        error == -EAGAIN ? "; if it is a host, it does not listen: try again, or stop it" : "");
}

static int fail_to_ask(const struct call *call, int status, pid_t process)
{
    switch (status) {
    case -EPERM:
        return call_fail(call, EX_NOPERM, "process %ld of another user listens at its socket",
                         (long)process);
    case -ETIMEDOUT:
    case -ECONNRESET:
    case -EPIPE:
        return call_fail(call, EX_TEMPFAIL,
                         "process %ld did not answer; some pieces may be changed: look, and repeat",
                         (long)process);
    case -EPROTO:
        return call_fail(call, EX_TEMPFAIL, "process %ld is of another version: restart the host",
                         (long)process);
    case -EAGAIN:
        return call_fail(call, EX_TEMPFAIL, "its host does not listen; nothing was changed");
    default:
        return call_fail(call, EX_TEMPFAIL, "its host cannot be asked: %s", strerror(-status));
    }
}

/* Returns an exit code. A host that ends or begins in between changes nothing. */
static int ask(struct hand *hand, struct order *order, struct order_answer *out)
{
    int status = -ENOENT, code = EX_OK;
    pid_t process = 0;

    if (!hand->is_open)
        status = door_ask(hand->call->file, order, out, &process);
    if (!hand->is_open && status != 0 && status != -ENOENT && status != -ECONNREFUSED &&
        status != -ENAMETOOLONG)
        return fail_to_ask(hand->call, status, process);
    if (!hand->is_open && status != 0)
        code = open_store(hand);
    if (hand->is_open)
        hand->is_in_doubt = order_carry_out(&hand->store, order, is_in_work, NULL, out) ==
                            STORE_IN_DOUBT;
    if (code == EX_OK && out->status != ORDER_CARRIED_OUT)
        code = call_fail(hand->call, out->status == ORDER_FAILED ? EX_IOERR : EX_TEMPFAIL, "%s%s",
                         out->error,
                         out->status == ORDER_IN_DOUBT ? "; it may be done: look, and repeat" : "");
    return code;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* No piece is in a file without tables, and a change would make them. Returns an exit code. */
static int ask_about(struct hand *hand, struct order *order, struct order_answer *out)
{
    int code = EX_OK, has;
    sqlite3 *connection = view_open(hand->call, &code);

    if (!connection)
        return code;
    has = view_has_tables(connection);
    if (has < 0)
        code = view_fail(hand->call, connection);
    (void)sqlite3_close(connection);
    if (code != EX_OK)
        return code;
    *out = (struct order_answer){ .size = sizeof *out };
    memset(out->results, ORDER_MISSING, sizeof out->results);
    return has > 0 ? ask(hand, order, out) : EX_OK;
}

static int change_numbers(struct hand *hand, struct order *order, uint32_t *out_done)
{
    static const char *const reasons[] = {
        [ORDER_MISSING] = "there is no piece",
        [ORDER_IN_WORK] = "in hand: piece",
        [ORDER_NOT_DEAD] = "not dead: piece",
    };
    struct order_answer answer = { .size = sizeof answer };
    int code;

    order->count = (uint32_t)hand->call->count;
    code = call_numbers(hand->call, order->ids);
    if (code == EX_OK)
        code = ask_about(hand, order, &answer);
    if (code != EX_OK)
        return code;
    for (uint32_t i = 0; i < order->count; i++) {
        uint8_t result = answer.results[i];

        if (result != ORDER_DONE)
            code = call_fail(hand->call, EX_DATAERR, "%s %" PRId64,
                             result <= ORDER_NOT_DEAD ? reasons[result] : "unknown: piece",
                             order->ids[i]);
    }
    *out_done = answer.done;
    return code;
}

/* A piece that dies again meanwhile has the same number, so it is not replayed twice. */
static int change_dead(struct hand *hand, struct order *order, const char *queue,
                       uint32_t *out_done)
{
    struct order_answer answer;
    int code;

    order->count = 0;
    order->after = 0;
    (void)snprintf(order->queue, sizeof order->queue, "%s", queue);
    do {
        code = ask(hand, order, &answer);
        if (code != EX_OK)
            return code;
        *out_done += answer.done;
        order->after = answer.last;
    } while (answer.last != 0);
    return EX_OK;
}

static const char names_and_most[] =
    "SELECT name, (SELECT ifnull(max(id), 0) FROM piece WHERE state=2) FROM queue";

/* The names of all queues, each ended by a NUL, and an empty one, and the last dead piece. Owned;
 * NULL, or `out_code`: printed why. */
static char *read_queues(const struct call *call, int64_t *out_most, int *out_code)
{
    sqlite3_stmt *row = NULL;
    sqlite3 *connection = view_open(call, out_code);
    FILE *stream;
    char *names = NULL;
    size_t size;
    int step = SQLITE_DONE, has = connection ? view_has_tables(connection) : 0;

    if (!connection)
        return NULL;
    stream = open_memstream(&names, &size);
    if (has < 0)
        step = SQLITE_ERROR;
    if (stream && has > 0) {
        step = sqlite3_prepare_v2(connection, names_and_most, -1, &row, NULL);
        while (step == SQLITE_OK || step == SQLITE_ROW) {
            step = sqlite3_step(row);
            if (step != SQLITE_ROW)
                break;
            (void)fwrite(sqlite3_column_text(row, 0), 1, (size_t)sqlite3_column_bytes(row, 0) + 1,
                         stream);
            *out_most = sqlite3_column_int64(row, 1);
        }
    }
    if (stream)
        (void)fputc('\0', stream);
    if (!stream || fclose(stream) != 0)
        *out_code = call_fail(call, EX_SOFTWARE, "memory is out");
    else if (step != SQLITE_DONE)
        *out_code = view_fail(call, connection);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(connection);
    return names;
}

/* An unknown queue is a mistake; a queue without dead pieces is none. */
static int change_queues(struct hand *hand, struct order *order, uint32_t *out_done)
{
    const char *only = hand->call->queue;
    int code = EX_OK;
    bool is_known = !only;
    char *names = read_queues(hand->call, &order->most, &code);

    for (const char *name = names; name && *name && code == EX_OK; name += strlen(name) + 1) {
        if (only && strcmp(only, name) != 0)
            continue;
        is_known = true;
        code = change_dead(hand, order, name, out_done);
    }
    free(names);
    if (code == EX_OK && !is_known)
        code = call_fail(hand->call, EX_NOINPUT, "there is no queue %s", only);
    return code;
}

static int change(const struct call *call, enum order_verb verb, const char *done)
{
    static struct order order;
    struct hand hand = { .call = call };
    uint32_t count = 0;
    int code;

    order = (struct order){ .size = sizeof order, .verb = verb };
    code = call->is_all ? change_queues(&hand, &order, &count)
                        : change_numbers(&hand, &order, &count);
    if (hand.is_open)
        store_close(&hand.store, !hand.is_in_doubt);
    if (code != EX_OK && (call->is_all || code != EX_DATAERR))
        return code; /* nobody knows the number */
    if (call->is_json)
        (void)printf("{\"%s\": %" PRIu32 "}\n", done, count);
    else
        (void)printf("%s %" PRIu32 " piece%s\n", done, count, count == 1 ? "" : "s");
    return code == EX_OK ? call_flush(call) : code;
}

int call_replay(const struct call *call)
{
    return change(call, ORDER_REPLAY, "replayed");
}

int call_delete(const struct call *call)
{
    return change(call, ORDER_DELETE, "deleted");
}
