/* SPDX-License-Identifier: MIT */
/*
 * dispatch/stock.h - free objects of one kind: each thread has some, the rest is shared.
 *
 * A thread takes and gives without a lock from its own stock; when that is empty or full it
 * exchanges a whole batch with the shared part, by one lock and without touching the objects in it.
 * A thread holds at most two batches.
 *
 *            | take | give       of one stock
 *   all      |  X   |  X         X = one thread at a time; the common part: any threads
 */
#ifndef DISPATCH_STOCK_H
#define DISPATCH_STOCK_H

#include <stdint.h>

#include "base/lock.h"

#define STOCK_BATCH 32 /* one lock for so many: below a nanosecond each */

/* Part of each object while it is free. */
struct stock_item {
    struct stock_item *next;       /* in its batch */
    struct stock_item *next_batch; /* of the first of a batch: the next batch */
};

struct stock_batch {
    struct stock_item *first;
    uint32_t count; /* at most STOCK_BATCH */
};

/* A thread's own stock. */
struct stock {
    struct stock_batch open; /* taken from and given to */
    struct stock_batch full; /* a whole batch, or none: avoids repeated exchanges at the edge */
};

struct stock_common {
    struct lock lock;
    struct stock_item *batches; /* lock: whole ones */
};

void stock_common_init(struct stock_common *common);
void stock_common_finish(struct stock_common *common);

/* NULL: both the own stock and the shared part are empty. */
struct stock_item *stock_take(struct stock *stock, struct stock_common *common);
void stock_give(struct stock *stock, struct stock_common *common, struct stock_item *item);

#endif
