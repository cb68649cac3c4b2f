/* SPDX-License-Identifier: MIT */
#include "message/message_index.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 64u
#define ROOM_MAX (1u << 30)
#define BUCKETS_EACH 2u /* for each message for which there is room: searches are short */

/*
 * `messages` has them in order, and NULL in place of those that were removed. `buckets` is a hash
 * table with open addressing of their positions there plus 1; 0 is a free bucket.
 */
struct message_index {
    struct message **messages;
    uint32_t *buckets;
    uint32_t room;  /* of messages; a power of two */
    uint32_t used;  /* positions so far */
    uint32_t first; /* no message is before it */
    uint32_t count; /* of messages that are left */
};

static uint32_t mask_of(const struct message_index *index)
{
    return index->room * BUCKETS_EACH - 1;
}

static uint32_t hash(const struct message_index *index, uint64_t address)
{
    /* Blocks begin at multiples of 16. The factor spreads the other bits over the high ones. */
    return (uint32_t)(((address >> 4) * 0x9e3779b97f4a7c15ull) >> 32) & mask_of(index);
}

static uint64_t address_at(const struct message_index *index, uint32_t bucket)
{
    return (uint64_t)(uintptr_t)index->messages[index->buckets[bucket] - 1];
}

/* The bucket of that address, or the free one where it would be. */
static uint32_t look(const struct message_index *index, uint64_t address)
{
    uint32_t bucket = hash(index, address);

    while (index->buckets[bucket] && address_at(index, bucket) != address)
        bucket = (bucket + 1) & mask_of(index);
    return bucket;
}

static void put(struct message_index *index, struct message *message)
{
    uint32_t bucket = look(index, (uint64_t)(uintptr_t)message);

    index->messages[index->used++] = message;
    index->buckets[bucket] = index->used;
    index->count++;
}

static bool allocate(struct message_index *index, uint32_t room)
{
    *index = (struct message_index){ .room = room };
    index->messages = malloc(room * sizeof(struct message *));
    index->buckets = calloc((size_t)room * BUCKETS_EACH, sizeof *index->buckets);
    if (index->messages && index->buckets)
        return true;
    free(index->messages);
    free(index->buckets);
    return false;
}

/* Drops the places of removed messages, and doubles the room when there are few of these. */
static bool make_room(struct message_index *index)
{
    struct message_index old = *index;
    uint32_t room = old.count > old.room / 2 ? old.room * 2 : old.room;

    if (old.room >= ROOM_MAX || !allocate(index, room)) {
        *index = old;
        return false;
    }
    for (uint32_t i = old.first; i < old.used; i++)
        if (old.messages[i])
            put(index, old.messages[i]);
    free(old.messages);
    free(old.buckets);
    return true;
}

struct message_index *message_index_create(struct message_queue *queue, uint32_t count)
{
    struct message_index *index = malloc(sizeof *index);
    struct message *message;
    uint32_t room = ROOM_MIN;

    while (room < count && room < ROOM_MAX)
        room *= 2;
    if (!index || room < count || !allocate(index, room)) {
        free(index);
        return NULL;
    }
    while ((message = message_queue_take(queue)))
        put(index, message);
    return index;
}

void message_index_destroy(struct message_index *index, struct message_queue *queue)
{
    if (!index)
        return;
    for (uint32_t i = index->first; i < index->used; i++)
        if (index->messages[i])
            message_queue_append(queue, index->messages[i]);
    free(index->messages);
    free(index->buckets);
    free(index);
}

bool message_index_append(struct message_index *index, struct message *message)
{
    if (index->used == index->room && !make_room(index))
        return false;
    put(index, message);
    return true;
}

struct message *message_index_find(const struct message_index *index, uint64_t address)
{
    uint32_t position = index->buckets[look(index, address)];

    return position ? index->messages[position - 1] : NULL;
}

/* Frees a bucket, and moves those behind it up, so that no search ends too early. */
static void free_bucket(struct message_index *index, uint32_t hole)
{
    uint32_t mask = mask_of(index);

    for (uint32_t at = (hole + 1) & mask; index->buckets[at]; at = (at + 1) & mask) {
        uint32_t own = hash(index, address_at(index, at));

        /* It stays when its search begins behind the hole. */
        if (((at - own) & mask) < ((at - hole) & mask))
            continue;
        index->buckets[hole] = index->buckets[at];
        hole = at;
    }
    index->buckets[hole] = 0;
}

/* The position of the first message from one on; `used`: there is none. */
static uint32_t skip(const struct message_index *index, uint32_t position)
{
    while (position < index->used && !index->messages[position])
        position++;
    return position;
}

void message_index_remove(struct message_index *index, const struct message *message)
{
    uint32_t bucket = look(index, (uint64_t)(uintptr_t)message);
    uint32_t position = index->buckets[bucket] - 1;

    free_bucket(index, bucket);
    index->messages[position] = NULL;
    index->count--;
    if (position == index->first)
        index->first = skip(index, position);
}

static struct message *message_at(const struct message_index *index, uint32_t position)
{
    return position < index->used ? index->messages[position] : NULL;
}

struct message *message_index_first(const struct message_index *index)
{
    return message_at(index, index->first);
}

struct message *message_index_next(const struct message_index *index, const struct message *message)
{
    uint32_t position = index->buckets[look(index, (uint64_t)(uintptr_t)message)];

    return message_at(index, skip(index, position));
}
