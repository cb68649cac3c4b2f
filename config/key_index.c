/* SPDX-License-Identifier: MIT */
#include "config/key_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <weir/status.h>

#define CAPACITY_MIN 64 /* enough for the keys of a small file */

struct key_slot {
    const void *owner;
    const char *key;
    uint64_t hash; /* of owner and key: a long key is read once, however large the index grows */
    void *value;   /* NULL = empty */
};

/* --- hashing ---------------------------------------------------------------------------------- */

/*
 * SipHash-1-3 (Aumasson and Bernstein, 2012), keyed with random bytes that the kernel gave this
 * process: so no file can have keys that all get the same slot.
 */
struct hashing {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(struct hashing *hashing)
{
    hashing->v0 += hashing->v1;
    hashing->v2 += hashing->v3;
    hashing->v1 = rotate(hashing->v1, 13) ^ hashing->v0;
    hashing->v3 = rotate(hashing->v3, 16) ^ hashing->v2;
    hashing->v0 = rotate(hashing->v0, 32) + hashing->v3;
    hashing->v2 += hashing->v1;
    hashing->v3 = rotate(hashing->v3, 21) ^ hashing->v0;
    hashing->v1 = rotate(hashing->v1, 17) ^ hashing->v2;
    hashing->v2 = rotate(hashing->v2, 32);
}

static void add_word(struct hashing *hashing, uint64_t word)
{
    hashing->v3 ^= word;
    mix(hashing);
    hashing->v0 ^= word;
}

/* The 16 bytes of AT_RANDOM: they cost no system call, and are always there. */
static struct hashing begin_hashing(void)
{
    uint64_t drawn[2] = { 0, 0 };
    const void *random = (const void *)getauxval(AT_RANDOM);

    if (random)
        memcpy(drawn, random, sizeof drawn);
    return (struct hashing){
        drawn[0] ^ UINT64_C(0x736f6d6570736575),
        drawn[1] ^ UINT64_C(0x646f72616e646f6d),
        drawn[0] ^ UINT64_C(0x6c7967656e657261),
        drawn[1] ^ UINT64_C(0x7465646279746573),
    };
}

static uint64_t hash_of(const void *owner, const char *key)
{
    struct hashing hashing = begin_hashing();
    size_t size = strlen(key);
    uint64_t word;

    add_word(&hashing, (uint64_t)(uintptr_t)owner);
    for (size_t left = size; left >= sizeof word; left -= sizeof word, key += sizeof word) {
        memcpy(&word, key, sizeof word);
        add_word(&hashing, word);
    }
    word = 0;
    memcpy(&word, key, size % sizeof word);
    add_word(&hashing, word | (uint64_t)size << 56);
    hashing.v2 ^= 0xff;
    mix(&hashing);
    mix(&hashing);
    mix(&hashing);
    return hashing.v0 ^ hashing.v1 ^ hashing.v2 ^ hashing.v3;
}

/* --- the table -------------------------------------------------------------------------------- */

void key_index_init(struct key_index *index)
{
    memset(index, 0, sizeof *index);
}

void key_index_finish(struct key_index *index)
{
    free(index->slots);
    key_index_init(index);
}

/* The slot of the key, or the empty one where it belongs. There is always an empty one. */
static struct key_slot *slot_of(const struct key_index *index, const struct key_slot *wanted)
{
    size_t mask = index->capacity - 1;
    size_t at = (size_t)wanted->hash & mask;
    struct key_slot *slot = &index->slots[at];

    while (slot->value && (slot->hash != wanted->hash || slot->owner != wanted->owner ||
                           strcmp(slot->key, wanted->key) != 0)) {
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
            *slot_of(&larger, slot) = *slot;
    }
    free(index->slots);
    *index = larger;
    return WEIR_OK;
}

/* The slot for a value, with room for it; NULL when memory is out. */
static struct key_slot *take_slot(struct key_index *index, const struct key_slot *wanted)
{
    if (index->count >= index->capacity / 2 && grow(index) != WEIR_OK)
        return NULL;
    return slot_of(index, wanted);
}

int key_index_put(struct key_index *index, const void *owner, const char *key, void *value)
{
    struct key_slot wanted = { owner, key, hash_of(owner, key), value };
    struct key_slot *slot = take_slot(index, &wanted);

    if (!slot)
        return WEIR_ENOMEM;
    if (!slot->value)
        index->count++;
    *slot = wanted;
    return WEIR_OK;
}

int key_index_add(struct key_index *index, const void *owner, const char *key, void *value,
                  void **out_earlier)
{
    struct key_slot wanted = { owner, key, hash_of(owner, key), value };
    struct key_slot *slot = take_slot(index, &wanted);

    if (!slot)
        return WEIR_ENOMEM;
    *out_earlier = slot->value;
    if (slot->value)
        return WEIR_OK;
    index->count++;
    *slot = wanted;
    return WEIR_OK;
}

void *key_index_find(const struct key_index *index, const void *owner, const char *key)
{
    struct key_slot wanted = { owner, key, 0, NULL };

    if (!index->capacity)
        return NULL;
    wanted.hash = hash_of(owner, key);
    return slot_of(index, &wanted)->value;
}
