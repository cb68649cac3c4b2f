/* SPDX-License-Identifier: MIT */
/*
 * order.h - what an operator wants done with pieces of a file: `weir queue FILE replay`, `delete`.
 *
 * The command writes an order to the socket of the hub that has the file (door.h), or carries it
 * out itself when no process has the file. Both are of one machine, and may be of two versions: the
 * sizes in front say whether they understand each other.
 */
#ifndef ORDER_H
#define ORDER_H

#include "store.h"

#define ORDER_IDS_MAX 1000u /* of one order, as in a group of the hub */

enum order_verb {
    ORDER_NOTHING, /* only asks which process has the file */
    ORDER_REPLAY,  /* dead pieces are ready again, as the first attempt */
    ORDER_DELETE,
};

struct order {
    uint32_t size;  /* of this struct */
    uint32_t verb;  /* enum order_verb */
    uint32_t count; /* of `ids`; 0: ORDER_IDS_MAX dead pieces of `queue`, behind `after` */
    uint32_t unused;
    int64_t after, most; /* without ids: numbers of pieces; `most` is the last one */
    int64_t until_ms;    /* of CLOCK_MONOTONIC: it is not begun later */
    char queue[QUEUE_NAME_SIZE + 7];
    int64_t ids[ORDER_IDS_MAX];
};

/* What became of one piece. */
enum order_result {
    ORDER_DONE,
    ORDER_MISSING,
    ORDER_IN_WORK,  /* a take has it, or a worker */
    ORDER_NOT_DEAD, /* only dead pieces are replayed */
};

enum order_status {
    ORDER_CARRIED_OUT,
    ORDER_REFUSED,  /* nothing was done, and the store is well: `error` */
    ORDER_FAILED,   /* nothing was done, since the store fails: `error` */
    ORDER_IN_DOUBT, /* all was done, or nothing: `error` */
};

struct order_answer {
    uint32_t size;   /* of this struct */
    uint32_t status; /* enum order_status */
    uint32_t done;   /* pieces */
    uint32_t unused;
    int64_t last; /* without ids: the last piece; 0 = there are no more */
    char error[PLACE_REASON_SIZE];
    uint8_t results[ORDER_IDS_MAX]; /* enum order_result, of each id */
};

/* False: the bytes are no order of this version. */
bool order_is_valid(const struct order *order, size_t size);
void order_fail(struct order_answer *answer, enum order_status status, const char *error);
/* One transaction. `is_in_work` says whether a piece is in hand. Returns what the commit says; the
 * answer is complete in any case. */
enum store_result order_carry_out(struct store *store, const struct order *order,
                                  bool (*is_in_work)(void *context, int64_t id), void *context,
                                  struct order_answer *out);

#endif
