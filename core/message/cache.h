/*
 * message/cache.h - each thread's store of message memory.
 *
 * A thread takes from its own cache without any atomic operation. Memory goes back to the cache
 * it came from: at once on the same thread, in batches of CACHE_BATCH from another one, so that
 * the memory of a one-way stream is used again and stays in the owner's caches.
 *
 *            | take | give (own) | give (other's) | flush
 *   take     |  X   |     X      |       -        |   X       X = one thread at a time,
 *   give own |  X   |     X      |       -        |   X       - = any threads at once;
 *   give oth.|  -   |     -      |       -        |   -       per cache; each thread passes
 *   flush    |  X   |     X      |       -        |   X       its own cache first.
 *
 * Bounded: a class keeps at most CACHE_KEEP_BYTES, the rest goes back to malloc.
 */
#ifndef MESSAGE_CACHE_H
#define MESSAGE_CACHE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "message/layout.h"
#include "message/memory.h"

/* Under AddressSanitizer every message is its own allocation, so that a use after free is seen. */
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

#define CACHE_SMALL 128             /* bytes of the first class */
#define CACHE_CLASSES 6             /* 128, 256, 512, 1024, 2048, 4096 bytes; above: malloc */
#define CACHE_BATCH 32              /* a return costs one exchange; amortised below 0.2 ns */
#define CACHE_KEEP_BYTES (1u << 20) /* per class: the working set of a 64 x 64 pool */

struct cache_shelf {
    struct message *first; /* owner */
    uint32_t count;        /* owner */
};

/* Messages of one other cache on their way home. */
struct cache_parcel {
    struct cache *home;
    struct message *first;
    struct message *last;
    uint32_t count;
};

#define CACHE_PARCELS 4 /* homes served at once; more are sent early */

struct cache {
    struct memory_share share;                      /* owner */
    struct cache_shelf shelves[CACHE_CLASSES];      /* owner */
    struct cache_parcel parcels[CACHE_PARCELS];     /* owner */
    alignas(64) _Atomic(struct message *) returned; /* pushed by others, taken whole by owner */
};

void cache_init(struct cache *cache);
/* Frees what the cache holds. No message of it may be in use any more. */
void cache_finish(struct cache *cache);

/*
 * Memory for a header and `size` bytes behind it, not zeroed but for the class in
 * public.reserved and `home`; NULL when memory is out or the sum overflows.
 */
struct message *cache_take(struct cache *cache, size_t header, size_t size);

/* As cache_take of at most CACHE_SMALL bytes, from what lies ready; NULL: nothing does. */
static inline struct message *cache_take_small(struct cache *cache)
{
    struct cache_shelf *shelf = &cache->shelves[0];
    struct message *message = shelf->first;

    if (!message)
        return NULL;
    /* Relaxed: on a shelf it is its owner's. */
    shelf->first = atomic_load_explicit(&message->next, memory_order_relaxed);
    shelf->count--;
    message->public.reserved = 0;
    return message;
}

/* Takes a message of any cache; `cache` is the calling thread's. */
static inline void cache_give(struct cache *cache, struct message *message);
/* The same, of any kind. */
void cache_give_any(struct cache *cache, struct message *message);

/* The bytes of its block behind a header: at least what was asked for. Any thread; the same for as
 * long as the message lives. */
size_t cache_room(const struct message *message, size_t header);

/* Sends everything home that still waits for its batch to fill, and gives the share of memory back.
 * Before a thread sleeps. */
void cache_flush(struct cache *cache);

static inline void cache_give(struct cache *cache, struct message *message)
{
    uint32_t class_index = message->public.reserved >> MESSAGE_CLASS_SHIFT & 0xff;
    struct cache_shelf *shelf = &cache->shelves[class_index];

    if (message->home != cache ||
        shelf->count * ((size_t)CACHE_SMALL << class_index) >= CACHE_KEEP_BYTES) {
        cache_give_any(cache, message);
        return;
    }
    atomic_store_explicit(&message->next, shelf->first, memory_order_relaxed);
    shelf->first = message;
    shelf->count++;
}

#endif
