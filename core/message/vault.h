/*
 * message/vault.h - small things that a plugin cannot overwrite by writing past the end of its
 * memory: they lie on pages of their own, between two pages that nobody may touch.
 *
 * The crash handler reads names from here and from nowhere else. What is taken is never given back
 * before vault_finish.
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
 * True when `bytes` at `item` lie in memory of the chunk or of one behind it. Begin with the
 * vault's first; NULL has none.
 */
bool vault_holds(const struct vault_chunk *chunk, const void *item, size_t bytes);

/* Text in a vault, or NULL when the pointer leads anywhere else. */
const char *vault_text(const struct vault_chunk *chunk, const char *text);

void vault_finish(struct vault *vault);

/*
 * Pages of their own for one item, between two that nobody may touch, zeroed; vault_unmap gives
 * them back. NULL when memory is out.
 */
void *vault_map(size_t size);
void vault_unmap(void *item, size_t size);

#endif
