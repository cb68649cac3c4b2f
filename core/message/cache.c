/* SPDX-License-Identifier: MIT */
#include "message/cache.h"

#include <malloc.h>
#include <stdlib.h>

#define CLASS_LARGE CACHE_CLASSES /* allocated with malloc */
#define ALLOCATION_SLACK 8192u    /* more than malloc rounds a size up: to pages when it maps it */

static_assert(CLASS_LARGE << MESSAGE_CLASS_SHIFT <= MESSAGE_CLASS_MASK, "each class has a number");

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
    return (message->public.reserved & MESSAGE_CLASS_MASK) >> MESSAGE_CLASS_SHIFT;
}

void cache_init(struct cache *cache)
{
    *cache = (struct cache){ 0 };
    slabs_init(&cache->slabs);
    for (uint32_t i = 0; i < CACHE_CLASSES; i++)
        cache->shelves[i].room = cache_keeps(i);
}

static struct message *next_of(struct message *message)
{
    return atomic_load_explicit(&message->next, memory_order_relaxed);
}

static void set_next(struct message *message, struct message *next)
{
    atomic_store_explicit(&message->next, next, memory_order_relaxed);
}

/* Gives the memory back to where the cache has it from. */
static void give_up(struct cache *cache, struct message *message)
{
    if (class_of(message) == 0)
        slab_give(&cache->slabs, message);
    else
        free(message);
}

static void shelve(struct cache *cache, struct message *message)
{
    struct cache_shelf *shelf = &cache->shelves[class_of(message)];

    if (shelf->room == 0) {
        give_up(cache, message);
        return;
    }
    set_next(message, shelf->first);
    shelf->first = message;
    shelf->room--;
}

/* --- boxes: a dead small message whose second line has the addresses of others ---------------- */

#define BOX_ROOM ((CACHE_SMALL - offsetof(struct message, reference)) / sizeof(struct message *))

static struct message **contents_of(struct message *box)
{
    return (struct message **)(void *)((char *)box + offsetof(struct message, reference));
}

static size_t count_in(const struct message *box)
{
    return box->public.size;
}

/* A message of a larger class is in no box, and is no box. */
static bool has_box_room(const struct message *message)
{
    return message && class_of(message) == 0 && count_in(message) < BOX_ROOM;
}

static void put_in_box(struct message *box, struct message *message)
{
    contents_of(box)[box->public.size++] = message;
}

static void prefetch_message(const void *message)
{
    __builtin_prefetch(message, 1);
    __builtin_prefetch((const char *)message + CACHE_SMALL / 2, 1);
}

static void give_box_up(struct cache *cache, struct message *box)
{
    for (size_t i = 0; i < count_in(box); i++)
        slab_give(&cache->slabs, contents_of(box)[i]);
    slab_give(&cache->slabs, box);
}

static void keep_box(struct cache *cache, struct message *box)
{
    uint32_t count = (uint32_t)count_in(box) + 1;

    if (cache->boxed + count > cache_keeps(0)) {
        give_box_up(cache, box);
        return;
    }
    cache->boxed += count;
    set_next(box, cache->boxes);
    cache->boxes = box;
}

/* Puts the messages of a box on the empty shelf. The lines of the next box's messages are on their
 * way while these ones are used. */
static void open_box(struct cache *cache)
{
    struct message *box = cache->boxes;
    struct message *next = next_of(box);
    size_t count = count_in(box);

    cache->boxes = next;
    cache->boxed -= (uint32_t)count + 1;
    for (size_t i = 0; i < count; i++)
        shelve(cache, contents_of(box)[i]);
    shelve(cache, box);
    if (!next)
        return;
    for (size_t i = 0; i < count_in(next); i++)
        prefetch_message(contents_of(next)[i]);
}

/* Collects the messages that other threads returned. */
static void collect(struct cache *cache)
{
    /* [C1] pairs with the release in send_home: makes the links between the messages visible. */
    struct message *message = atomic_exchange_explicit(&cache->returned, NULL,
                                                       memory_order_acquire);

    while (message) {
        struct message *next = next_of(message);

        if (next)
            prefetch_message(next);
        if (class_of(message) == 0)
            keep_box(cache, message);
        else
            shelve(cache, message);
        message = next;
    }
}

/* --- taking ----------------------------------------------------------------------------------- */

static void refill(struct cache *cache, uint32_t class_index)
{
    /* Relaxed: a hint; collect() synchronises. */
    if (!(class_index == 0 && cache->boxes) &&
        atomic_load_explicit(&cache->returned, memory_order_relaxed))
        collect(cache);
    if (class_index == 0 && cache->boxes)
        open_box(cache);
}

static struct message *from_shelf(struct cache *cache, uint32_t class_index)
{
    struct cache_shelf *shelf = &cache->shelves[class_index];
    struct message *message;

    if (!shelf->first)
        refill(cache, class_index);
    message = shelf->first;
    if (message) {
        shelf->first = next_of(message);
        shelf->room++;
    }
    return message;
}

struct message *cache_take(struct cache *cache, size_t header, size_t size)
{
    bool is_kept;
    uint32_t class_index;
    struct message *message = NULL;

    if (size > SIZE_MAX - header)
        return NULL;
    class_index = class_for(header + size);
    is_kept = class_index < CLASS_LARGE && !CACHE_BYPASS;
    if (is_kept)
        message = from_shelf(cache, class_index);
    if (!message) {
        if (is_kept && class_index == 0)
            message = slab_take(&cache->slabs);
        else
            message = malloc(is_kept ? class_bytes(class_index) : header + size);
        if (!message)
            return NULL;
        message->home = is_kept ? cache : NULL;
    }
    message->public.reserved = class_index << MESSAGE_CLASS_SHIFT;
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

size_t cache_room_max(size_t header, size_t size)
{
    uint32_t class_index;

    if (size > SIZE_MAX - header - ALLOCATION_SLACK)
        return SIZE_MAX;
    class_index = class_for(header + size);
    if (class_index < CLASS_LARGE && !CACHE_BYPASS)
        return class_bytes(class_index) - header;
    return size + ALLOCATION_SLACK;
}

static void send_home(struct cache_parcel *parcel)
{
    struct message *top;

    if (!parcel->first)
        return; /* sent since it began */
    /* Relaxed: a first guess, checked by the exchange. */
    top = atomic_load_explicit(&parcel->home->returned, memory_order_relaxed);
    do
        set_next(parcel->last, top);
    /* [C1] releases the links to collect(). Messages are never popped one by one, so there is no
     * ABA. */
    while (!atomic_compare_exchange_weak_explicit(&parcel->home->returned, &top, parcel->first,
                                                  memory_order_release, memory_order_relaxed));
    *parcel = (struct cache_parcel){ .home = parcel->home };
}

static void send_all_home(struct cache *cache)
{
    for (uint32_t i = 0; i < cache->parcels_used; i++)
        send_home(&cache->parcels[i]);
    cache->parcels_used = 0;
}

/* Searches in the order of first use, and not by a hash of the address, so that a simulation
 * repeats. There are seldom more homes than CPUs. */
static struct cache_parcel *parcel_for(struct cache *cache, struct cache *home)
{
    struct cache_parcel *parcel;

    for (uint32_t i = 0; i < cache->parcels_used; i++)
        if (cache->parcels[i].home == home)
            return &cache->parcels[i];
    if (cache->parcels_used == CACHE_PARCELS)
        send_all_home(cache);
    parcel = &cache->parcels[cache->parcels_used++];
    *parcel = (struct cache_parcel){ .home = home };
    return parcel;
}

static void add_to_parcel(struct cache_parcel *parcel, struct message *message)
{
    if (class_of(message) == 0 && has_box_room(parcel->first)) {
        put_in_box(parcel->first, message);
    } else {
        message->public.size = 0; /* an empty box */
        set_next(message, parcel->first);
        parcel->first = message;
        if (!parcel->last)
            parcel->last = message;
    }
    parcel->count++;
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
    add_to_parcel(parcel, message);
    if (parcel->count >= CACHE_BATCH)
        send_home(parcel);
}

void cache_release(struct message *message)
{
    if (message->home && class_of(message) == 0)
        slab_release(message);
    else
        free(message);
}

void cache_flush(struct cache *cache)
{
    memory_flush(&cache->share);
    send_all_home(cache);
}

static void empty_shelf(struct cache *cache, uint32_t class_index)
{
    struct cache_shelf *shelf = &cache->shelves[class_index];

    while (shelf->first) {
        struct message *message = shelf->first;

        shelf->first = next_of(message);
        give_up(cache, message);
    }
    shelf->room = cache_keeps(class_index);
}

void cache_finish(struct cache *cache)
{
    cache_flush(cache);
    collect(cache);
    while (cache->boxes) {
        open_box(cache);
        empty_shelf(cache, 0);
    }
    for (uint32_t i = 0; i < CACHE_CLASSES; i++)
        empty_shelf(cache, i);
    slabs_finish(&cache->slabs);
    packing_finish(&cache->packing);
}
