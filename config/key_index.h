/* SPDX-License-Identifier: MIT */
/*
 * config/key_index.h - a hash index from an owner and a key to a value.
 *
 * The owner distinguishes equal keys: one index serves all maps of a file. A lookup costs the same
 * in every file, also in one that was written to cause collisions. Borrows owners, keys and values.
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

/* Puts a value, which must not be NULL, in place of an earlier one. WEIR_ENOMEM. */
int key_index_put(struct key_index *index, const void *owner, const char *key, void *value);

/* Puts a value unless the key has one. `*out_earlier` is the value that was there; NULL = the new
 * one was put. WEIR_ENOMEM. */
int key_index_add(struct key_index *index, const void *owner, const char *key, void *value,
                  void **out_earlier);

/* NULL when there is none. */
void *key_index_find(const struct key_index *index, const void *owner, const char *key);

#endif
