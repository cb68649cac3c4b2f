#include "message/cache.h"

#include <malloc.h>
#include <stdlib.h>

#define CLASS_LARGE CACHE_CLASSES /* allocated with malloc */

static size_t class_bytes(uint32_t class_index)
{
    return (size_t)CACHE_SMALL << class_index;
}

static uint32_t class_for(size_t bytes)
{
    uint32_t class_index = 0;

    while (class_index < CACHE_CLASSES && class_bytes(class_index) < bytes)
        class_index++;
    return class_index;
}

static uint32_t class_of(const struct message *message)
{
    return message->public.reserved >> MESSAGE_CLASS_SHIFT & 0xff;
}

void cache_init(struct cache *cache)
{
    *cache = (struct cache){ 0 };
    for (uint32_t i = 0; i < CACHE_CLASSES; i++)
        cache->shelves[i].room = cache_keeps(i);
}

static struct message *next_of(struct message *message)
{
    return atomic_load_explicit(&message->next, memory_order_relaxed);
}

static void shelve(struct cache *cache, struct message *message)
{
    struct cache_shelf *shelf = &cache->shelves[class_of(message)];

    if (shelf->room == 0) {
        free(message);
        return;
    }
    atomic_store_explicit(&message->next, shelf->first, memory_order_relaxed);
    shelf->first = message;
    shelf->room--;
}

/* Collects the messages that other threads returned. */
static void collect(struct cache *cache)
{
    /* [C1] pairs with the release in send_home: makes the links between the messages visible. */
    struct message *message = atomic_exchange_explicit(&cache->returned, NULL,
                                                       memory_order_acquire);

    while (message) {
        struct message *next = next_of(message);

        shelve(cache, message);
        message = next;
    }
}

static struct message *from_shelf(struct cache *cache, uint32_t class_index)
{
    struct cache_shelf *shelf = &cache->shelves[class_index];
    struct message *message;

    if (!shelf->first) {
        /* Relaxed: a hint; collect() synchronises. */
        if (!atomic_load_explicit(&cache->returned, memory_order_relaxed))
            return NULL;
        collect(cache);
    }
    message = shelf->first;
    if (message) {
        shelf->first = next_of(message);
        shelf->room++;
    }
    return message;
}

struct message *cache_take(struct cache *cache, size_t header, size_t size)
{
    uint32_t class_index;
    struct message *message = NULL;

    if (size > SIZE_MAX - header)
        return NULL;
    class_index = class_for(header + size);
    if (class_index < CLASS_LARGE && !CACHE_BYPASS) {
        message = from_shelf(cache, class_index);
        if (message)
            return message->public.reserved = class_index << MESSAGE_CLASS_SHIFT, message;
    }
    message = malloc(class_index < CLASS_LARGE && !CACHE_BYPASS ? class_bytes(class_index)
                                                                : header + size);
    if (!message)
        return NULL;
    message->public.reserved = class_index << MESSAGE_CLASS_SHIFT;
    message->home = class_index < CLASS_LARGE && !CACHE_BYPASS ? cache : NULL;
    return message;
}

size_t cache_room(const struct message *message, size_t header)
{
    uint32_t class_index = class_of(message);
    size_t bytes = class_index < CLASS_LARGE && !CACHE_BYPASS
                       ? class_bytes(class_index)
                       : malloc_usable_size((void *)(uintptr_t)message);

    return bytes - header;
}

static void send_home(struct cache_parcel *parcel)
{
    struct message *top;

    if (!parcel->first)
        return;
    /* Relaxed: a first guess, checked by the exchange. */
    top = atomic_load_explicit(&parcel->home->returned, memory_order_relaxed);
    do
        atomic_store_explicit(&parcel->last->next, top, memory_order_relaxed);
    /* [C1] releases the links to collect(). Messages are never popped one by one, so there is no
     * ABA. */
    while (!atomic_compare_exchange_weak_explicit(&parcel->home->returned, &top, parcel->first,
                                                  memory_order_release, memory_order_relaxed));
    *parcel = (struct cache_parcel){ 0 };
}

static struct cache_parcel *parcel_for(struct cache *cache, struct cache *home)
{
    struct cache_parcel *largest = &cache->parcels[0];

    for (size_t i = 0; i < CACHE_PARCELS; i++) {
        struct cache_parcel *parcel = &cache->parcels[i];

        if (parcel->home == home || !parcel->home)
            return parcel;
        if (parcel->count > largest->count)
            largest = parcel;
    }
    send_home(largest);
    return largest;
}

void cache_give_any(struct cache *cache, struct message *message)
{
    struct cache_parcel *parcel;

    if (!message->home) {
        free(message);
        return;
    }
    if (message->home == cache) {
        shelve(cache, message);
        return;
    }
    parcel = parcel_for(cache, message->home);
    parcel->home = message->home;
    atomic_store_explicit(&message->next, parcel->first, memory_order_relaxed);
    parcel->first = message;
    if (!parcel->last)
        parcel->last = message;
    if (++parcel->count >= CACHE_BATCH)
        send_home(parcel);
}

void cache_flush(struct cache *cache)
{
    memory_flush(&cache->share);
    for (size_t i = 0; i < CACHE_PARCELS; i++)
        send_home(&cache->parcels[i]);
}

void cache_finish(struct cache *cache)
{
    cache_flush(cache);
    collect(cache);
    for (size_t i = 0; i < CACHE_CLASSES; i++) {
        struct message *message = cache->shelves[i].first;

        while (message) {
            struct message *next = next_of(message);

            free(message);
            message = next;
        }
        cache->shelves[i] = (struct cache_shelf){ .room = cache_keeps((uint32_t)i) };
    }
}
