/* SPDX-License-Identifier: MIT */
#include "message/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message/blob.h"
#include "message/cache.h"
#include "message/join.h"

#define SMALL_SIZE (CACHE_SMALL - MESSAGE_HEADER_SIZE) /* payload of the first class */

static void fill(struct message *message, const struct weir_tag *tag, size_t size)
{
    message->public = (struct weir_message){
        .data = size ? (char *)message + MESSAGE_HEADER_SIZE : NULL,
        .size = size,
        .tag = tag,
        .kind = WEIR_MESSAGE,
        .attempt = 1,
        .reserved = message->public.reserved, /* the cache's size class */
    };
}

/* Of any size. Out of line, so that message_create saves no registers for it. */
__attribute__((noinline)) static struct message *create_any(struct cache *cache,
                                                            const struct weir_tag *tag, size_t size)
{
    struct message *message = cache_take(cache, MESSAGE_HEADER_SIZE, size);

    if (!message)
        return NULL;
    fill(message, tag, size);
    if (size)
        memset(message->public.data, 0, size);
    return message;
}

struct message *message_create(struct cache *cache, const struct weir_tag *tag, size_t size)
{
    struct message *message = size <= SMALL_SIZE ? cache_take_small(cache) : NULL;

    if (!message)
        return create_any(cache, tag, size);
    fill(message, tag, size);
    /* Always the full size: a constant size takes a store or two. */
    memset((char *)message + MESSAGE_HEADER_SIZE, 0, SMALL_SIZE);
    return message;
}

/* A message with a blob has a pointer to it in place of the payload. */
static struct blob **blob_slot(const struct message *message)
{
    return (struct blob **)(void *)((char *)(uintptr_t)message + MESSAGE_HEADER_SIZE);
}

struct message *message_create_with_blob(struct cache *cache, const struct weir_tag *tag,
                                         struct blob *blob)
{
    struct message *message = message_create(cache, tag, sizeof blob);

    if (!message)
        return NULL;
    *blob_slot(message) = blob_ref(blob);
    message->public.reserved |= MESSAGE_BLOB;
    message->public.data = blob->public.data;
    message->public.size = blob->public.size;
    return message;
}

struct blob *message_blob(const struct message *message)
{
    return message->public.reserved & MESSAGE_BLOB ? *blob_slot(message) : NULL;
}

/* The message has no payload afterwards. */
static void drop_blob(struct message *message)
{
    blob_unref(*blob_slot(message));
    message->public.reserved &= ~(uint32_t)MESSAGE_BLOB;
    message->public.data = NULL;
    message->public.size = 0;
}

/* --- labels ---------------------------------------------------------------------------------- */

/*
 * The end of the block of a labelled message:
 *
 *      label, NUL | its size, a byte
 *      label, NUL | its size, a byte | identity, 8 bytes | MESSAGE_IDENTIFIED, a byte
 */
static unsigned char *end_of(const struct message *message)
{
    return (unsigned char *)(uintptr_t)message + MESSAGE_HEADER_SIZE +
           cache_room(message, MESSAGE_HEADER_SIZE) - 1;
}

static bool has_identity(const struct message *message)
{
    return (message->public.reserved & MESSAGE_LABELLED) && *end_of(message) == MESSAGE_IDENTIFIED;
}

static char *label_slot(const struct message *message)
{
    unsigned char *end = end_of(message);

    if (*end == MESSAGE_IDENTIFIED)
        end -= MESSAGE_IDENTITY_ROOM;
    return (char *)end - *end;
}

/* With its NUL. */
static size_t label_size(const char *label)
{
    return strnlen(label, MESSAGE_LABEL_MAX - 1) + sizeof "";
}

size_t message_label_room(const char *label)
{
    return label_size(label) + sizeof(unsigned char);
}

void message_set_label(struct message *message, size_t size, const char *label, size_t room)
{
    size_t length = room - sizeof "" - sizeof(unsigned char);
    char *slot;

    message->public.reserved |= MESSAGE_LABELLED;
    message->public.size = size;
    if (size == 0)
        message->public.data = NULL;
    *end_of(message) = (unsigned char)(length + sizeof "");
    slot = label_slot(message);
    /* A compiler that knows how short it is copies by `rep movs`, which takes longer. */
    __asm__("" : "+r"(length));
    memcpy(slot, label, length);
    slot[length] = '\0';
}

bool message_set_identity(struct message *message, uint64_t identity)
{
    const size_t room = cache_room(message, MESSAGE_HEADER_SIZE);
    unsigned char *end = end_of(message);
    size_t size;

    if (!(message->public.reserved & MESSAGE_LABELLED))
        return false;
    if (!has_identity(message)) {
        size = (size_t)*end + sizeof(unsigned char); /* of the label */
        if (message->public.size > room ||
            room - message->public.size < size + MESSAGE_IDENTITY_ROOM)
            return false;
        memmove(end + 1 - size - MESSAGE_IDENTITY_ROOM, end + 1 - size, size);
        *end = MESSAGE_IDENTIFIED;
    }
    memcpy(end - sizeof identity, &identity, sizeof identity);
    return true;
}

static uint64_t own_identity(const struct message *message)
{
    uint64_t identity = 0;

    if (has_identity(message))
        memcpy(&identity, end_of(message) - sizeof identity, sizeof identity);
    return identity;
}

uint64_t message_identity(const struct message *message)
{
    uint64_t identity = own_identity(message);

    return identity == 0 && (message->public.reserved & MESSAGE_JOINED) ? join_identity(message)
                                                                        : identity;
}

const char *message_label(const struct message *message)
{
    if (message->public.reserved & MESSAGE_LABELLED)
        return label_slot(message);
    return message->public.reserved & MESSAGE_JOINED ? join_label(message) : "";
}

/* --- copies ---------------------------------------------------------------------------------- */

/* Copies the message with its payload and its label. */
static struct message *copy_payload(struct cache *cache, const struct message *message)
{
    const char *label = message->public.reserved & MESSAGE_LABELLED ? label_slot(message) : NULL;
    const size_t room = label ? message_label_room(label) : 0;
    const size_t more = has_identity(message) ? MESSAGE_IDENTITY_ROOM : 0;
    struct message *copy;

    if (message->public.reserved & MESSAGE_BLOB)
        return message_create_with_blob(cache, message->public.tag, *blob_slot(message));
    copy = message_create(cache, message->public.tag, message->public.size + room + more);
    if (copy && label)
        message_set_label(copy, message->public.size, label, room);
    if (copy && more > 0)
        (void)message_set_identity(copy, own_identity(message));
    if (copy && (message->public.reserved & MESSAGE_COUNTED)) {
        memory_take_anyway(&cache->share, cache_room(copy, MESSAGE_HEADER_SIZE));
        copy->public.reserved |= MESSAGE_COUNTED;
    }
    if (copy && message->public.size > 0)
        memcpy(copy->public.data, message->public.data, message->public.size);
    return copy;
}

struct message *message_copy(struct cache *cache, const struct message *message)
{
    struct message *copy = copy_payload(cache, message);

    if (!copy)
        return NULL;
    copy->public.key = message->public.key;
    copy->public.from = message->public.from;
    copy->public.kind = message->public.kind;
    return copy;
}

struct message *message_twin(struct cache *cache, const struct message *message)
{
    const uint32_t of_the_memory = MESSAGE_CLASS_MASK | MESSAGE_BLOB | MESSAGE_COUNTED |
                                   MESSAGE_LABELLED | MESSAGE_KEPT;
    struct message *twin = message_copy(cache, message);

    if (!twin)
        return NULL;
    twin->public.lane = message->public.lane;
    twin->public.attempt = message->public.attempt;
    twin->public.reserved |= message->public.reserved & ~of_the_memory;
    twin->reference = message->reference;
    twin->deadline_ns = message->deadline_ns;
    twin->lease = message->lease; /* with all that has its place */
    return twin;
}

/* --- notices ---------------------------------------------------------------------------------- */

/* Takes a message and returns it in other memory with room for `size` bytes; NULL: memory is out,
 * and the caller keeps the message. */
static struct message *move(struct cache *cache, struct message *message, size_t size)
{
    const uint32_t of_the_memory = MESSAGE_CLASS_MASK | MESSAGE_HOLDS | MESSAGE_LABELLED;
    struct message *moved = message_create(cache, message->public.tag, size);

    if (!moved)
        return NULL;
    moved->public.key = message->public.key;
    moved->public.from = message->public.from;
    moved->public.kind = message->public.kind;
    moved->public.lane = message->public.lane;
    moved->public.attempt = message->public.attempt;
    moved->public.reserved |= message->public.reserved & ~of_the_memory;
    moved->reference = message->reference;
    moved->deadline_ns = message->deadline_ns;
    moved->to = message->to;
    moved->lease = message->lease; /* with all that has its place */
    message_destroy(cache, message);
    return moved;
}

struct message *message_say(struct cache *cache, struct message *message, const char *text)
{
    const size_t size = strlen(text) + sizeof "";
    struct message *roomy = NULL;
    size_t room;

    if (message->public.reserved & MESSAGE_BLOB)
        drop_blob(message);
    message->public.reserved &= ~(uint32_t)MESSAGE_LABELLED; /* the text may take its place */
    message->public.size = 0;
    if (!text[0])
        return message;
    if (cache_room(message, MESSAGE_HEADER_SIZE) < size)
        roomy = move(cache, message, size);
    if (roomy)
        message = roomy;
    room = cache_room(message, MESSAGE_HEADER_SIZE);
    message->public.data = (char *)message + MESSAGE_HEADER_SIZE;
    message->public.size = size < room ? size : room;
    (void)snprintf(message->public.data, message->public.size, "%s", text);
    return message;
}

struct message *message_create_counted(struct cache *cache, const struct weir_tag *tag, size_t size)
{
    struct message *message;

    if (!memory_is_counted(&cache->share))
        return message_create(cache, tag, size);
    /* Before the allocation, so that a refusal costs none. */
    if (!memory_take(&cache->share, size))
        return NULL;
    message = message_create(cache, tag, size);
    if (message && memory_take(&cache->share, cache_room(message, MESSAGE_HEADER_SIZE) - size)) {
        message->public.reserved |= MESSAGE_COUNTED;
        return message;
    }
    memory_give(&cache->share, size);
    message_destroy(cache, message);
    return NULL;
}

size_t message_room_max(size_t size)
{
    const size_t label = MESSAGE_LABEL_MAX + sizeof(unsigned char) + MESSAGE_IDENTITY_ROOM;

    return size > SIZE_MAX - label ? SIZE_MAX : cache_room_max(MESSAGE_HEADER_SIZE, size + label);
}

/* Releases its blob and its bytes of the cap. */
static void let_go(struct cache *cache, struct message *message)
{
    if (message->public.reserved & MESSAGE_COUNTED)
        memory_give(&cache->share, cache_room(message, MESSAGE_HEADER_SIZE));
    if (message->public.reserved & MESSAGE_BLOB)
        drop_blob(message);
    if (message->public.reserved & MESSAGE_JOINED)
        join_drop(message);
}

void message_destroy(struct cache *cache, struct message *message)
{
    if (!message)
        return;
    if (message->public.reserved & MESSAGE_HOLDS)
        let_go(cache, message);
    cache_give(cache, message);
}

void message_release(struct memory *memory, struct message *message)
{
    if (message->public.reserved & MESSAGE_COUNTED)
        memory_return(memory, cache_room(message, MESSAGE_HEADER_SIZE));
    if (message->public.reserved & MESSAGE_BLOB)
        drop_blob(message);
    if (message->public.reserved & MESSAGE_JOINED)
        join_drop(message);
    cache_release(message);
}

/* Relaxed throughout: in a private list only its owner uses `next`. */
static void set_next(struct message *message, struct message *next)
{
    atomic_store_explicit(&message->next, next, memory_order_relaxed);
}

static struct message *next_of(const struct message *message)
{
    return atomic_load_explicit(&message->next, memory_order_relaxed);
}

/* --- queues --------------------------------------------------------------------------------- */

/* Adds at the front; the last one stays. */
void message_queue_prepend(struct message_queue *queue, struct message *message)
{
    struct message *last = queue->last;

    set_next(message, last ? next_of(last) : message);
    if (last)
        set_next(last, message);
    else
        queue->last = message;
}

void message_queue_append(struct message_queue *queue, struct message *message)
{
    message_queue_prepend(queue, message);
    queue->last = message;
}

void message_queue_insert(struct message_queue *queue, struct message *before,
                          struct message *message)
{
    if (!before) {
        message_queue_prepend(queue, message);
        return;
    }
    set_next(message, next_of(before));
    set_next(before, message);
    if (queue->last == before)
        queue->last = message;
}

struct message *message_queue_take(struct message_queue *queue)
{
    struct message *last = queue->last;
    struct message *first;

    if (!last)
        return NULL;
    first = next_of(last);
    if (first == last)
        queue->last = NULL;
    else
        set_next(last, next_of(first));
    return first;
}

uint32_t message_queue_count(const struct message_queue *queue)
{
    const struct message *message = queue->last;
    uint32_t count = 0;

    if (!message)
        return 0;
    do
        count++;
    while ((message = next_of(message)) != queue->last);
    return count;
}

/* --- lists ---------------------------------------------------------------------------------- */

void message_list_append(struct message_list *list, struct message *message)
{
    message_queue_append(&list->queue, message);
    list->count++;
}

void message_list_prepend(struct message_list *list, struct message *message)
{
    message_queue_prepend(&list->queue, message);
    list->count++;
}

struct message *message_list_take(struct message_list *list)
{
    struct message *message = message_queue_take(&list->queue);

    if (message)
        list->count--;
    return message;
}

/* The message before that of this address in the ring; NULL: it is not in the list. */
static struct message *find_before(const struct message_list *list, uint64_t address)
{
    struct message *before = list->queue.last;

    for (uint32_t i = 0; i < list->count; i++, before = next_of(before))
        if ((uint64_t)(uintptr_t)next_of(before) == address)
            return before;
    return NULL;
}

struct message *message_list_find(const struct message_list *list, uint64_t address)
{
    struct message *before = find_before(list, address);

    return before ? next_of(before) : NULL;
}

bool message_list_remove(struct message_list *list, const struct message *message)
{
    struct message *before = find_before(list, (uint64_t)(uintptr_t)message);

    if (!before)
        return false;
    set_next(before, next_of(message));
    if (list->queue.last == message)
        list->queue.last = before == message ? NULL : before;
    list->count--;
    return true;
}
