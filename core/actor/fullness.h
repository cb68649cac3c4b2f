/* SPDX-License-Identifier: MIT */
/*
 * actor/fullness.h - the full mark: a pool that was found full refuses messages without another
 * scan of its members.
 *
 * Each owner of members, a pool, has two words; pools are nested. `epoch` counts how often room was
 * made below the pool; its lowest bit says that a scan or a mark depends on it. `full_in` is the
 * full mark: the epoch in which every member was tried and none had room. The mark counts only
 * while the epoch is the same.
 *
 *      scan of the members                          room is made below the pool
 *      1. read the epoch                            1. give the place back
 *      2. try every member                          2. a sequentially consistent read-modify-write
 *      3. none has room: set the lowest bit,        3. lowest bit set: begin the next epoch, in the
 *         or write the mark if it was set in 1         pool and in every pool above it
 *
 * The mark never outlives the fullness. A scan that writes the mark has read an odd epoch before
 * its first try. A worker reads the epoch after it gave the place back. Either the scan sees the
 * place, or the worker sees the odd epoch and ends it, and the mark with it.
 *
 * A turn gives places back before a handler, each one or in batches, and at its end; each time it
 * ends the marks (actor/credit.h). In the middle of a turn it reads the epoch without a barrier.
 * A mark that is written within the same instant stays until the turn ends, or until another worker
 * below makes room.
 *
 * The mark is advisory. Its backstop is the scan: with hash, broadcast, a limit of bytes, and with
 * at most FULLNESS_FEW workers tried, there is no mark, and every refusal scans the members.
 */
#ifndef ACTOR_FULLNESS_H
#define ACTOR_FULLNESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor/owner.h"

#define FULLNESS_FEW 16u /* trying so many costs no more than keeping a mark */

/* The record of a scan. */
struct scan {
    uint32_t looks; /* workers, queues and marks that have refused */
    bool varies;    /* another message might have been accepted: by its key, size or kind */
};

/* Records that a worker has refused a message. */
void fullness_met(struct scan *scan, struct actor *actor);

/* The epoch, read before a scan begins. Any thread. */
static inline uint64_t fullness_epoch(struct fullness *fullness)
{
    return atomic_load_explicit(&fullness->epoch, memory_order_seq_cst);
}

/* True while the mark counts: every message is refused with FULL. Any thread. */
static inline bool fullness_refuses(struct fullness *fullness)
{
    uint64_t epoch = fullness_epoch(fullness);

    /* [F1] pairs with the release in fullness_note. */
    return (epoch & 1) && atomic_load_explicit(&fullness->full_in, memory_order_acquire) == epoch;
}

/* Records that every member has refused, in a scan that began in `epoch`. Any thread. */
void fullness_note(struct fullness *fullness, uint64_t epoch, const struct scan *scan);

/* Called when the pool gets room other than by a turn. Any thread. */
void fullness_forget(struct owner *owner);

/* True when a mark of the pool or of one above depends on the places of its workers. A hint, unless
 * the caller has made a read-modify-write since it gave them back. Any thread. */
bool fullness_is_watched(const struct owner *owner);

/* As fullness_forget, after that read-modify-write: ends the epochs with a mark. */
void fullness_end(struct owner *owner);

#endif
