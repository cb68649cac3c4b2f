/*
 * message/memory.h - a cap on the bytes of messages, without a common counter in the way.
 *
 * Every thread holds a share: bytes that are taken from the cap and in no message. A message takes
 * from the share of the thread that makes it and gives to the share of the thread that frees it;
 * only a share that is empty, or too full, touches the common count. So `taken` never passes the
 * limit, but for copies that are made for many, and is above what messages hold by at most two
 * batches a thread; a thread gives its share back before it sleeps. Without a limit nothing is
 * counted.
 *
 * A refusal is true of messages and shares together: at most 2 * batch * threads bytes, a five
 * hundredth of the limit for each thread, may be free in shares of others at that moment.
 *
 * Blobs outlive the runtime when a plugin holds them longer, and are released on threads that have
 * no share: they count in the common sum, and each holds the memory that it was taken from.
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
#define MEMORY_BATCHES 1024u         /* of a limit at least: a hundred threads do not hold it all */

struct memory {
    _Atomic uint64_t limit;             /* 0 = none */
    _Atomic uint64_t batch;             /* follows the limit */
    alignas(64) _Atomic uint64_t taken; /* by messages and shares */
    _Atomic uint64_t refused;           /* messages for which there was no room */
    _Atomic uint32_t references;        /* the runtime's, and one for each counted blob */
};

struct memory_share {
    struct memory *memory; /* const; NULL: nothing is counted */
    uint64_t at_hand;      /* taken, and in no message */
};

/* Returns owned: one reference. NULL when memory is out. */
struct memory *memory_create(uint64_t limit);
/* In place, with one reference; for a test, or before anybody has taken any. */
void memory_init(struct memory *memory, uint64_t limit);
/* Another limit, or none, from now on. What has been taken stays taken; over the limit nothing more
 * is, until as much has been given. What was made without a limit has not been taken, and does not
 * count when there is one. */
void memory_set_limit(struct memory *memory, uint64_t limit);
static inline uint64_t memory_limit(const struct memory *memory)
{
    /* Relaxed: any of the limits that there were meanwhile will do. */
    return atomic_load_explicit(&memory->limit, memory_order_relaxed);
}

struct memory *memory_ref(struct memory *memory);
/* NULL is allowed. */
void memory_unref(struct memory *memory);

/* True when sources shall wait: over three quarters are taken. The rest lets those who work on what
 * is inside make what they need to finish it. */
bool memory_is_scarce(struct memory *memory);

static inline bool memory_is_counted(const struct memory_share *share)
{
    return share->memory && memory_limit(share->memory);
}

/* Takes bytes out of the cap; false: there are not so many. Only when it is counted. */
bool memory_take(struct memory_share *share, uint64_t bytes);
/* Takes them also when there are not so many: the cap is passed, and nothing more is taken until as
 * much has been given back. */
void memory_take_anyway(struct memory_share *share, uint64_t bytes);
void memory_give(struct memory_share *share, uint64_t bytes);
/* As memory_give, on a thread without a share. */
void memory_return(struct memory *memory, uint64_t bytes);

/* Gives the whole share back. Before a thread sleeps or ends. */
void memory_flush(struct memory_share *share);

#endif
