#include "config/key_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#define CAPACITY_MIN 64 /* a small file's keys */

struct key_slot {
    const void *owner;
    const char *key;
    void *value; /* NULL = empty */
};

void key_index_init(struct key_index *index)
{
    memset(index, 0, sizeof *index);
}

void key_index_finish(struct key_index *index)
{
    free(index->slots);
    key_index_init(index);
}

/* FNV-1a, begun with the owner's address. */
static uint64_t hash_of(const void *owner, const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ ((uint64_t)(uintptr_t)owner >> 4);

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(1099511628211);
    return hash ^ (hash >> 29);
}

/* The slot of the key, or the empty one where it belongs. There is always an empty one. */
static struct key_slot *slot_of(const struct key_index *index, const void *owner, const char *key)
{
    size_t mask = index->capacity - 1;
    size_t at = (size_t)hash_of(owner, key) & mask;
    struct key_slot *slot = &index->slots[at];

    while (slot->value && (slot->owner != owner || strcmp(slot->key, key) != 0)) {
        at = (at + 1) & mask;
        slot = &index->slots[at];
    }
    return slot;
}

static int grow(struct key_index *index)
{
    struct key_index larger = { NULL, index->capacity ? index->capacity * 2 : CAPACITY_MIN,
                                index->count };

    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < index->capacity; i++) {
        const struct key_slot *slot = &index->slots[i];

        if (slot->value)
            *slot_of(&larger, slot->owner, slot->key) = *slot;
    }
    free(index->slots);
    *index = larger;
    return WEIR_OK;
}

int key_index_put(struct key_index *index, const void *owner, const char *key, void *value)
{
    struct key_slot *slot;

    if (index->count >= index->capacity / 2 && grow(index) != WEIR_OK)
        return WEIR_ENOMEM;
    slot = slot_of(index, owner, key);
    if (!slot->value)
        index->count++;
    *slot = (struct key_slot){ owner, key, value };
    return WEIR_OK;
}

void *key_index_find(const struct key_index *index, const void *owner, const char *key)
{
    return index->capacity ? slot_of(index, owner, key)->value : NULL;
}
