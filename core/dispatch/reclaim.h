/* SPDX-License-Identifier: MIT */
/*
 * dispatch/reclaim.h - frees memory when no thread can be reading it any more.
 *
 * Quiescent-state based. A reader that is *online* may hold pointers that it read from shared
 * places; it declares between two turns that it holds none (`reader_quiescent`). A reader that
 * sleeps, or is inside a callback that may block, is *offline* and delays nothing. Retired memory
 * is freed once every reader has been quiescent or offline since.
 *
 * Retiring: each thread has its own list of retired objects, so a retirement costs no atomic
 * operation; `reader_poll` notes the epoch of the list, and frees it when no reader can reach it.
 *
 * The epoch: all readers read it between two turns, so it is written once in a grace period, not
 * once for each list. It grows by 1 when every online reader has seen the present one. A poll
 * continues the search for a reader that has not where the last poll ended, so a grace period takes
 * one check of each reader, however many poll. A list that was complete when its owner had seen
 * epoch e is free from e + RECLAIM_GRACE on: the owner announces e + 1 after the objects were
 * unpublished, so the objects are out of reach from e + 2 on, and with e + 3 all have seen that.
 *
 *                    | quiescent online offline retire poll | other readers' calls
 *   one reader's     |                 X                    |          -
 */
#ifndef DISPATCH_RECLAIM_H
#define DISPATCH_RECLAIM_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

#define RECLAIM_READERS_MAX 1280 /* 1024 dispatcher threads and 256 ports */
#define RECLAIM_OFFLINE 0        /* a reader's `seen` that delays nothing */
#define RECLAIM_GRACE 3          /* epochs */

struct reader;

/* Embedded in retired objects. `free` gets it back, on the thread of `reader`. */
struct retired {
    struct retired *next;
    void (*free)(struct retired *retired, struct reader *reader);
};

struct retired_list {
    struct retired *first;
    struct retired *last;
};

struct reader {
    alignas(64) _Atomic uint64_t seen; /* written by the reader, read by all */
    struct reclaim *reclaim;           /* const */
    uint32_t index;                    /* const: in the table, used by this reader alone */
    struct retired_list fresh;         /* owner: no epoch yet */
    struct retired_list aging;         /* owner */
    uint64_t aging_epoch;              /* owner: had been seen when `aging` was complete */
};

struct reclaim {
    alignas(64) _Atomic uint64_t epoch; /* written under lock, read by all between two turns */

    /* For polls. */
    alignas(64) struct lock lock;
    uint32_t reader_count;       /* lock: high-water mark of the table */
    uint32_t seen_below;         /* lock: the readers with lower numbers have seen `epoch` */
    struct retired_list orphans; /* lock: left by readers that are offline or finished */
    _Atomic bool has_orphans;    /* written under lock */

    struct reader *readers[RECLAIM_READERS_MAX]; /* lock */
};

void reclaim_init(struct reclaim *reclaim);
/* No reader is left, and the last one found no more objects to free. */
void reclaim_finish(struct reclaim *reclaim);

/* Offline at first. WEIR_ENOMEM: the table is full. */
int reader_init(struct reader *reader, struct reclaim *reclaim);
/* Leaves its retired objects to the others. */
void reader_finish(struct reader *reader);

/* Declares that the reader holds no pointer now. Cheap when no object was retired since. */
static inline void reader_quiescent(struct reader *reader);

void reader_online(struct reader *reader);
void reader_offline(struct reader *reader);
static inline bool reader_is_online(struct reader *reader)
{
    return atomic_load_explicit(&reader->seen, memory_order_relaxed) != RECLAIM_OFFLINE;
}

/* Frees `retired` later. It must not be reachable any more. */
void reader_retire(struct reader *reader, struct retired *retired);

/* Leaves its waiting objects to the others. */
void reader_hand_over(struct reader *reader);

/*
 * Before a long sleep: frees what it can, leaves the rest to the others, and goes offline. The last
 * reader to go frees everything: once every reader rests, no object is left.
 */
void reader_rest(struct reader *reader);

/* Ages and frees this reader's list, and lists that others left. Online; declares that the reader
 * holds no pointer now. True when objects still wait. */
bool reader_poll(struct reader *reader);

static inline void reader_quiescent(struct reader *reader)
{
    /* [Q1] acquire pairs with the release in advance: this reader cannot reach objects that were
     * unpublished before. */
    uint64_t epoch = atomic_load_explicit(&reader->reclaim->epoch, memory_order_acquire);

    /* [Q2] release pairs with the scan: our reads come before. */
    if (atomic_load_explicit(&reader->seen, memory_order_relaxed) != epoch)
        atomic_store_explicit(&reader->seen, epoch, memory_order_release);
}

#endif
