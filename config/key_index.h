/*
 * config/key_index.h - finds what stands under a key of an owner, whatever their number.
 *
 * Owners tell equal keys apart: one index serves all maps of a file. To find or put one costs the
 * same in any file, also in one that was written to make it dear. Borrows owners, keys and values.
 *
 * Life: key_index_init .. key_index_finish. Not synchronised.
 */
#ifndef CONFIG_KEY_INDEX_H
#define CONFIG_KEY_INDEX_H

#include <stddef.h>

struct key_slot;

struct key_index {
    struct key_slot *slots; /* owned */
    size_t capacity;        /* 0, or a power of two */
    size_t count;
};

void key_index_init(struct key_index *index);
void key_index_finish(struct key_index *index);

/* Puts a value, which must not be NULL; an earlier one under the same key goes. WEIR_ENOMEM. */
int key_index_put(struct key_index *index, const void *owner, const char *key, void *value);

/* Puts a value unless there is one; `*out_earlier` is that one, NULL = it was put. WEIR_ENOMEM. */
int key_index_add(struct key_index *index, const void *owner, const char *key, void *value,
                  void **out_earlier);

/* NULL when there is none. */
void *key_index_find(const struct key_index *index, const void *owner, const char *key);

#endif
