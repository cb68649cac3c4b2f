/*
 * dispatch/reclaim.h - frees memory when no thread can be reading it any more.
 *
 * Quiescent-state based. A reader that is *online* may hold pointers that it read from shared
 * places; it says between two turns that it holds none (`reader_quiescent`). A reader that sleeps,
 * or is inside a callback that may block, is *offline* and holds nothing up. What is retired is
 * freed once every reader has been quiescent or offline since.
 *
 * Retiring: each thread collects what it retires in a list of its own, so a retirement costs no
 * atomic operation; `reader_poll` gives the list an epoch and frees what has come of age.
 *
 *                    | quiescent online offline retire poll | other readers' calls
 *   one reader's     |                 X                    |          -
 */
#ifndef DISPATCH_RECLAIM_H
#define DISPATCH_RECLAIM_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RECLAIM_READERS_MAX 1280 /* 1024 dispatcher threads and 256 ports */
#define RECLAIM_OFFLINE 0        /* a reader's `seen` that holds nothing up */

struct reader;

/* Embedded in what is retired. `free` gets it back, on the thread of `reader`. */
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
    struct retired_list fresh;         /* owner: no epoch yet */
    struct retired_list aging;         /* owner: free when all have seen `aging_epoch` */
    uint64_t aging_epoch;              /* owner */
};

struct reclaim {
    alignas(64) _Atomic uint64_t epoch;
    _Atomic uint32_t reader_count;                         /* high-water mark of the table */
    _Atomic(struct reader *) readers[RECLAIM_READERS_MAX]; /* written under lock */
    pthread_mutex_t lock;
    struct retired_list orphans; /* lock: left by readers that went away */
    _Atomic bool has_orphans;
};

void reclaim_init(struct reclaim *reclaim);
/* No reader is left, and the last one found nothing more to free. */
void reclaim_finish(struct reclaim *reclaim);

/* Offline at first. WEIR_ENOMEM: the table is full. */
int reader_init(struct reader *reader, struct reclaim *reclaim);
/* Leaves what it retired to the others. */
void reader_finish(struct reader *reader);

/* "I hold no pointer now." Cheap when nothing was retired since. */
static inline void reader_quiescent(struct reader *reader);

void reader_online(struct reader *reader);
void reader_offline(struct reader *reader);
static inline bool reader_is_online(struct reader *reader)
{
    return atomic_load_explicit(&reader->seen, memory_order_relaxed) != RECLAIM_OFFLINE;
}

/* Frees `retired` later. It must not be reachable any more. */
void reader_retire(struct reader *reader, struct retired *retired);

/* Leaves what waits to the others. */
void reader_hand_over(struct reader *reader);

/*
 * Before a long sleep: frees what it can, leaves the rest to the others, and goes offline. Who goes
 * last frees it all: once every reader rests, nothing is left.
 */
void reader_rest(struct reader *reader);

/* Ages and frees this reader's list. True when something still waits. */
bool reader_poll(struct reader *reader);

static inline void reader_quiescent(struct reader *reader)
{
    /* [Q1] acquire pairs with the increment in reader_poll: what was unpublished before it is
     * gone for us. */
    uint64_t epoch = atomic_load_explicit(&reader->reclaim->epoch, memory_order_acquire);

    /* [Q2] release pairs with the scan: our reads were before. */
    if (atomic_load_explicit(&reader->seen, memory_order_relaxed) != epoch)
        atomic_store_explicit(&reader->seen, epoch, memory_order_release);
}

#endif
