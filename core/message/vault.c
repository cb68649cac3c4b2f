/* SPDX-License-Identifier: MIT */
#include "message/vault.h"

#include <stdalign.h>
#include <stdint.h>
#include <sys/mman.h>

#define GUARD_SIZE ((size_t)64 * 1024) /* at least a page, whatever the page is */
#define CHUNK_SIZE ((size_t)64 * 1024) /* a host has some hundred names */

struct vault_chunk {
    _Atomic(struct vault_chunk *) next; /* written once */
    size_t used;                        /* the writer's; starts after this header */
};

static size_t mapped_size(size_t size)
{
    return (size + GUARD_SIZE - 1) / GUARD_SIZE * GUARD_SIZE;
}

void *vault_map(size_t size)
{
    size_t inner = mapped_size(size);
    char *memory = mmap(NULL, inner + 2 * GUARD_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);

    if (memory == MAP_FAILED)
        return NULL;
    if (mprotect(memory + GUARD_SIZE, inner, PROT_READ | PROT_WRITE) == 0)
        return memory + GUARD_SIZE;
    munmap(memory, inner + 2 * GUARD_SIZE);
    return NULL;
}

void vault_unmap(void *item, size_t size)
{
    if (item)
        munmap((char *)item - GUARD_SIZE, mapped_size(size) + 2 * GUARD_SIZE);
}

static struct vault_chunk *add_chunk(struct vault *vault)
{
    struct vault_chunk *chunk = vault_map(CHUNK_SIZE);

    if (!chunk)
        return NULL;
    chunk->used = sizeof *chunk;
    /* Release pairs with the acquire in vault_holds: the chunk is complete. */
    atomic_store_explicit(vault->last ? &vault->last->next : &vault->first, chunk,
                          memory_order_release);
    vault->last = chunk;
    return chunk;
}

void *vault_take(struct vault *vault, size_t size)
{
    struct vault_chunk *chunk = vault->last;
    size_t start;

    if (size > VAULT_ITEM_MAX)
        return NULL;
    if (!chunk || CHUNK_SIZE - chunk->used < size + alignof(max_align_t))
        chunk = add_chunk(vault);
    if (!chunk)
        return NULL;
    start = (chunk->used + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    chunk->used = start + size;
    return (char *)chunk + start;
}

bool vault_holds(const struct vault_chunk *chunk, const void *item, size_t bytes)
{
    uintptr_t address = (uintptr_t)item;

    while (chunk) {
        uintptr_t start = (uintptr_t)chunk + sizeof *chunk;
        uintptr_t end = (uintptr_t)chunk + CHUNK_SIZE;

        if (address >= start && address < end && end - address >= bytes)
            return true;
        chunk = atomic_load_explicit(&chunk->next, memory_order_acquire);
    }
    return false;
}

/* Every item ends with NUL in its chunk, so text from any address in the chunk does, too. */
const char *vault_text(const struct vault_chunk *chunk, const char *text)
{
    return vault_holds(chunk, text, 1) ? text : NULL;
}

void vault_finish(struct vault *vault)
{
    struct vault_chunk *chunk = atomic_load_explicit(&vault->first, memory_order_acquire);

    while (chunk) {
        struct vault_chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);

        vault_unmap(chunk, CHUNK_SIZE);
        chunk = next;
    }
    *vault = (struct vault){ 0 };
}
