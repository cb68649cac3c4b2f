/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <weir/message.h>
#include <weir/status.h>

#define SLOTS_MIN 64u
/* Fewer calls of malloc than words, and little waste for a small table. */
#define CHUNK_SIZE (32u * 1024u)

struct table_chunk {
    struct table_chunk *next;
    size_t used;
    size_t size;
    char bytes[];
};

void table_finish(struct table *table)
{
    while (table->chunks) {
        struct table_chunk *chunk = table->chunks;

        table->chunks = chunk->next;
        free(chunk);
    }
    free(table->slots);
    *table = (struct table){ 0 };
}

/* The slot of a string, or the free one where it belongs. There is always a free one. */
static struct table_entry *find(const struct table *table, uint64_t hash, const void *bytes,
                                size_t size)
{
    size_t mask = table->slot_count - 1;
    size_t index = (size_t)hash & mask;

    for (;; index = (index + 1) & mask) {
        struct table_entry *entry = &table->slots[index];

        if (!entry->bytes)
            return entry;
        if (entry->hash == hash && entry->size == size && memcmp(entry->bytes, bytes, size) == 0)
            return entry;
    }
}

static int grow(struct table *table, size_t slot_count)
{
    struct table larger = { .slot_count = slot_count };

    larger.slots = calloc(slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < table->slot_count; i++) {
        const struct table_entry *entry = &table->slots[i];

        if (entry->bytes)
            *find(&larger, entry->hash, entry->bytes, entry->size) = *entry;
    }
    free(table->slots);
    table->slots = larger.slots;
    table->slot_count = slot_count;
    return 0;
}

static int add_chunk(struct table *table, size_t bytes)
{
    size_t size = bytes > CHUNK_SIZE ? bytes : CHUNK_SIZE;
    struct table_chunk *chunk = malloc(sizeof *chunk + size);

    if (!chunk)
        return WEIR_ENOMEM;
    *chunk = (struct table_chunk){ .next = table->chunks, .size = size };
    table->chunks = chunk;
    return 0;
}

int table_reserve(struct table *table, size_t count, size_t bytes)
{
    size_t slot_count = table->slot_count ? table->slot_count : SLOTS_MIN;

    /* At most three quarters full: a free slot is near. */
    while (slot_count / 4 * 3 < table->count + count)
        slot_count *= 2;
    if (slot_count != table->slot_count && grow(table, slot_count) < 0)
        return WEIR_ENOMEM;
    if (!table->chunks || table->chunks->size - table->chunks->used < bytes)
        return add_chunk(table, bytes);
    return 0;
}

struct table_entry *table_at(struct table *table, const void *bytes, size_t size)
{
    uint64_t hash = weir_key(bytes, size);
    struct table_entry *entry = find(table, hash, bytes, size);
    struct table_chunk *chunk = table->chunks;
    char *copy;

    if (entry->bytes)
        return entry;
    assert(chunk->size - chunk->used >= size);
    copy = chunk->bytes + chunk->used;
    memcpy(copy, bytes, size);
    chunk->used += size;
    *entry = (struct table_entry){ .bytes = copy, .size = size, .hash = hash };
    table->count++;
    return entry;
}

static int compare(const void *left, const void *right)
{
    const struct table_entry *a = *(const struct table_entry *const *)left;
    const struct table_entry *b = *(const struct table_entry *const *)right;
    int order;

    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

const struct table_entry **table_sorted(const struct table *table)
{
    const struct table_entry **entries = malloc((table->count + 1) * sizeof *entries);
    size_t count = 0;

    if (!entries)
        return NULL;
    for (size_t i = 0; i < table->slot_count; i++)
        if (table->slots[i].bytes)
            entries[count++] = &table->slots[i];
    qsort(entries, count, sizeof *entries, compare);
    return entries;
}
