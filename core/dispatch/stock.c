/* SPDX-License-Identifier: MIT */
#include "dispatch/stock.h"

#include <stddef.h>

void stock_common_init(struct stock_common *common)
{
    lock_init(&common->lock, LOCK_STOCK);
    common->batches = NULL;
}

void stock_common_finish(struct stock_common *common)
{
    lock_finish(&common->lock);
}

static struct stock_batch fetch(struct stock_common *common)
{
    struct stock_batch batch = { 0 };

    lock_acquire(&common->lock);
    batch.first = common->batches;
    if (batch.first) {
        batch.count = STOCK_BATCH;
        common->batches = batch.first->next_batch;
    }
    lock_release(&common->lock);
    return batch;
}

static void bring(struct stock_common *common, struct stock_batch batch)
{
    lock_acquire(&common->lock);
    batch.first->next_batch = common->batches;
    common->batches = batch.first;
    lock_release(&common->lock);
}

struct stock_item *stock_take(struct stock *stock, struct stock_common *common)
{
    struct stock_item *item;

    if (!stock->open.first) {
        stock->open = stock->full.first ? stock->full : fetch(common);
        stock->full = (struct stock_batch){ 0 };
    }
    item = stock->open.first;
    if (item) {
        stock->open.first = item->next;
        stock->open.count--;
    }
    return item;
}

void stock_give(struct stock *stock, struct stock_common *common, struct stock_item *item)
{
    if (stock->open.count == STOCK_BATCH) {
        if (stock->full.first)
            bring(common, stock->full);
        stock->full = stock->open;
        stock->open = (struct stock_batch){ 0 };
    }
    item->next = stock->open.first;
    stock->open.first = item;
    stock->open.count++;
}
