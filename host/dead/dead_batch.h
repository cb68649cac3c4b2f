/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_batch.h - records of one owner that wait to be written, in the order of their numbers.
 *
 * Zeroed memory is an empty batch. Not synchronised.
 */
#ifndef HOST_DEAD_DEAD_BATCH_H
#define HOST_DEAD_DEAD_BATCH_H

#include "host/dead/dead_record.h"

struct dead_batch {
    struct dead_text text;
    uint64_t count;
};

void dead_batch_finish(struct dead_batch *batch);

/* The first records that the owner may add: their bytes and their count. The arguments are as for
 * dead_shares_allow. */
struct dead_part {
    size_t size;
    uint64_t count;
};
struct dead_part dead_batch_fitting(const struct dead_batch *batch, uint64_t has, uint64_t total,
                                    uint64_t total_max);

/* Moves the first records to the end of `out`. WEIR_ENOMEM: nothing has changed. */
int dead_batch_move(struct dead_batch *batch, struct dead_part part, struct dead_text *out);

#endif
