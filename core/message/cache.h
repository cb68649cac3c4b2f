/* SPDX-License-Identifier: MIT */
/*
 * message/cache.h - each thread's store of message memory.
 *
 * A thread takes from its own cache without any atomic operation. Memory goes back to the cache
 * it came from: at once on the same thread, in batches of CACHE_BATCH from another one, so that
 * the memory of a one-way stream is used again and stays in the owner's caches.
 *
 * Small messages return in boxes: a dead message holds the addresses of eight others. So their
 * owner reads two lines for nine messages, and asks for the lines of all nine at once; a list of
 * messages would cost it a miss for each, one after the other.
 *
 *            | take | give (own) | give (other's) | flush
 *   take     |  X   |     X      |       -        |   X       X = one thread at a time,
 *   give own |  X   |     X      |       -        |   X       - = any threads at once;
 *   give oth.|  -   |     -      |       -        |   -       per cache; each thread passes
 *   flush    |  X   |     X      |       -        |   X       its own cache first.
 *
 * Bounded: a class keeps at most CACHE_KEEP_BYTES, and as much in boxes; the rest goes back to the
 * slabs, or to malloc.
 */
#ifndef MESSAGE_CACHE_H
#define MESSAGE_CACHE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "message/layout.h"
#include "message/memory.h"
#include "message/packed.h"
#include "message/slab.h"

/* Under AddressSanitizer every message is its own allocation, so that it detects a use after
 * free. */
#if defined(__SANITIZE_ADDRESS__)
#define CACHE_BYPASS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CACHE_BYPASS 1
#endif
#endif
#ifndef CACHE_BYPASS
#define CACHE_BYPASS 0
#endif

#define CACHE_SMALL SLAB_BLOCK      /* bytes of the first class */
#define CACHE_CLASSES 6             /* 128, 256, 512, 1024, 2048, 4096 bytes; above: malloc */
#define CACHE_BATCH 32              /* a return costs one exchange; amortised below 0.2 ns */
#define CACHE_KEEP_BYTES (1u << 20) /* per class: the working set of a 64 x 64 pool */

struct cache_shelf {
    struct message *first; /* owner */
    uint32_t room;         /* owner: as many more are kept */
};

/* Messages that return to one other cache: a list of boxes, and of larger messages. */
struct cache_parcel {
    struct cache *home;
    struct message *first;
    struct message *last;
    uint32_t count;
};

/* Caches served at once; one more sends the messages of all of them early. */
#define CACHE_PARCELS 32

struct cache {
    struct memory_share share;                  /* owner */
    struct cache_shelf shelves[CACHE_CLASSES];  /* owner */
    struct cache_parcel parcels[CACHE_PARCELS]; /* owner: in the order of first use */
    uint32_t parcels_used;                      /* owner: since the last flush */
    struct slabs slabs;                         /* owner: of the first class */
    struct packing packing;                     /* owner */
    struct message *boxes;                      /* owner: returned, not opened yet */
    uint32_t boxed;                             /* owner: messages in them, themselves included */
    /* pushed by other threads, taken whole by the owner */
    alignas(64) _Atomic(struct message *) returned;
};

void cache_init(struct cache *cache);
/* Frees the cache's memory. Messages that are in use are given back by cache_release. */
void cache_finish(struct cache *cache);

/*
 * Memory for a header and `size` bytes after it. Not zeroed; the class in public.reserved and
 * `home` are set. NULL when memory is out or the sum overflows.
 */
struct message *cache_take(struct cache *cache, size_t header, size_t size);

/* How many messages of a class are kept at most. */
static inline uint32_t cache_keeps(uint32_t class_index)
{
    return CACHE_KEEP_BYTES / (CACHE_SMALL << class_index);
}

/* As cache_take for at most CACHE_SMALL bytes, from the shelf; NULL: the shelf is empty. */
static inline struct message *cache_take_small(struct cache *cache)
{
    struct cache_shelf *shelf = &cache->shelves[0];
    struct message *message = shelf->first;

    if (!message)
        return NULL;
    /* Relaxed: a message on a shelf belongs to the shelf's owner. */
    shelf->first = atomic_load_explicit(&message->next, memory_order_relaxed);
    shelf->room++;
    message->public.reserved = 0;
    return message;
}

/* Takes a message of any cache; `cache` is the calling thread's. */
static inline void cache_give(struct cache *cache, struct message *message);
/* As cache_give, for messages of any kind. */
void cache_give_any(struct cache *cache, struct message *message);
/* Takes a message whose cache is finished, or may be finished at this moment. Any thread. */
void cache_release(struct message *message);

/* The size of its block without the header: at least the requested size. Any thread; constant for
 * the life of the message. */
size_t cache_room(const struct message *message, size_t header);

/* At least cache_room of a message that is made with this size. */
size_t cache_room_max(size_t header, size_t size);

/* Returns all messages that wait for their batch to fill, and the share of the memory cap. Before a
 * thread sleeps. */
void cache_flush(struct cache *cache);

static inline void cache_give(struct cache *cache, struct message *message)
{
    uint32_t class_index = (message->public.reserved & MESSAGE_CLASS_MASK) >> MESSAGE_CLASS_SHIFT;
    struct cache_shelf *shelf = &cache->shelves[class_index];

    if (message->home != cache || shelf->room == 0) {
        cache_give_any(cache, message);
        return;
    }
    atomic_store_explicit(&message->next, shelf->first, memory_order_relaxed);
    shelf->first = message;
    shelf->room--;
}

#endif
