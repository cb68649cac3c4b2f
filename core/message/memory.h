/* SPDX-License-Identifier: MIT */
/*
 * message/memory.h - a cap on the bytes of messages, without a shared counter on the fast path.
 *
 * Every thread has a share: bytes that are taken from the cap and are in no message. A message
 * takes from the share of the thread that makes it and gives to the share of the thread that frees
 * it; only an empty share, or one that is too full, touches the shared counter. So `taken` never
 * passes the limit, except by copies for many receivers. It exceeds the bytes of messages by at
 * most two batches for each thread; a thread returns its share before it sleeps. Without a limit no
 * bytes are counted.
 *
 * A refusal counts messages and shares together: at most 2 * batch * threads bytes, a five
 * hundredth of the limit for each thread, may be free in other threads' shares at that moment.
 *
 * A plugin may hold a blob longer than the runtime lives, and release it on a thread without a
 * share: blobs count in the shared counter, and each holds a reference to the cap.
 *
 * memory_*: any thread. A share: its own thread.
 */
#ifndef MESSAGE_MEMORY_H
#define MESSAGE_MEMORY_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MEMORY_BATCH_MAX (64u << 10) /* a thread's working set of small messages */
/* batches in the smallest limit: a hundred threads' shares use only a part of it */
#define MEMORY_BATCHES 1024u

struct memory {
    _Atomic uint64_t limit;             /* 0 = none */
    _Atomic uint64_t batch;             /* follows the limit */
    alignas(64) _Atomic uint64_t taken; /* by messages and shares */
    _Atomic uint64_t refused;           /* messages refused for lack of memory */
    _Atomic uint32_t references;        /* the runtime's, and one for each counted blob */
};

struct memory_share {
    struct memory *memory; /* const; NULL: nothing is counted */
    uint64_t at_hand;      /* taken, in no message */
};

/* Returns owned: one reference. NULL when memory is out. */
struct memory *memory_create(uint64_t limit);
/* In place, with one reference; for a test, or before the first bytes are taken. */
void memory_init(struct memory *memory, uint64_t limit);
/* Sets the limit; 0 = none. Bytes that are taken stay taken; above the new limit no more are taken
 * until enough have been given back. Messages made without a limit never count. */
void memory_set_limit(struct memory *memory, uint64_t limit);
static inline uint64_t memory_limit(const struct memory *memory)
{
    /* Relaxed: an older value of the limit is good enough. */
    return atomic_load_explicit(&memory->limit, memory_order_relaxed);
}

struct memory *memory_ref(struct memory *memory);
/* NULL is allowed. */
void memory_unref(struct memory *memory);

/* True when sources should wait: more than three quarters are taken. Workers use the rest to finish
 * the messages inside. */
bool memory_is_scarce(struct memory *memory);

static inline bool memory_is_counted(const struct memory_share *share)
{
    return share->memory && memory_limit(share->memory);
}

/* Takes bytes from the cap; false: there are not enough. Only under a limit. */
bool memory_take(struct memory_share *share, uint64_t bytes);
/* As memory_take, but exceeds the cap when there are not enough: then no more bytes are taken until
 * enough have been given back. */
void memory_take_anyway(struct memory_share *share, uint64_t bytes);
void memory_give(struct memory_share *share, uint64_t bytes);
/* As memory_give, on a thread without a share. */
void memory_return(struct memory *memory, uint64_t bytes);

/* Returns the whole share. Before a thread sleeps or ends. */
void memory_flush(struct memory_share *share);

#endif
