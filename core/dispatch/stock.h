/*
 * dispatch/stock.h - free things of one kind, some of them with each thread, the rest in common.
 *
 * A thread takes and gives without a lock from what it has at hand; when that is empty or too much
 * it exchanges a whole batch with the others, by one lock and without touching what is in it. A
 * thread holds at most two batches.
 *
 *            | take | give       of one stock
 *   all      |  X   |  X         X = one thread at a time; the common part: any threads
 */
#ifndef DISPATCH_STOCK_H
#define DISPATCH_STOCK_H

#include <pthread.h>
#include <stdint.h>

#define STOCK_BATCH 32 /* one lock for as many: below a nanosecond each */

/* Lies in each thing while it is free. */
struct stock_item {
    struct stock_item *next;       /* in its batch */
    struct stock_item *next_batch; /* of the first in a batch: another batch */
};

struct stock_batch {
    struct stock_item *first;
    uint32_t count; /* at most STOCK_BATCH */
};

/* What a thread has at hand. */
struct stock {
    struct stock_batch open; /* taken from and given to */
    struct stock_batch full; /* a whole one, or none: against going to and fro at the edge */
};

struct stock_common {
    pthread_mutex_t lock;
    struct stock_item *batches; /* lock: whole ones */
};

void stock_common_init(struct stock_common *common);
void stock_common_finish(struct stock_common *common);

/* NULL: there is none at hand nor in common. */
struct stock_item *stock_take(struct stock *stock, struct stock_common *common);
void stock_give(struct stock *stock, struct stock_common *common, struct stock_item *item);

#endif
