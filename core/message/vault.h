/* SPDX-License-Identifier: MIT */
/*
 * message/vault.h - small items that a plugin cannot overwrite by writing past the end of its
 * memory: they lie on separate pages, between two pages without access.
 *
 * The crash handler reads names only from here. Items are freed only by vault_finish.
 *
 * Life: zeros are an empty vault; vault_finish. vault_take and vault_finish: one thread at a time.
 * vault_holds: any thread, also in a signal handler, until vault_finish.
 */
#ifndef MESSAGE_VAULT_H
#define MESSAGE_VAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct vault_chunk;

struct vault {
    _Atomic(struct vault_chunk *) first; /* written once */
    struct vault_chunk *last;            /* the writer's */
};

#define VAULT_ITEM_MAX ((size_t)4096) /* bytes of one item */

/* Memory of zeros, aligned for any type; NULL when memory is out or `size` is too large. */
void *vault_take(struct vault *vault, size_t size);

/*
 * True when `bytes` at `item` lie in memory of this chunk or a later one. Begin with the vault's
 * first; NULL has none.
 */
bool vault_holds(const struct vault_chunk *chunk, const void *item, size_t bytes);

/* A text in a vault; NULL for any other pointer. */
const char *vault_text(const struct vault_chunk *chunk, const char *text);

void vault_finish(struct vault *vault);

/*
 * Zeroed pages for one item, between two pages without access; vault_unmap frees them. NULL when
 * memory is out.
 */
void *vault_map(size_t size);
void vault_unmap(void *item, size_t size);

#endif
