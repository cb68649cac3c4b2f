/* SPDX-License-Identifier: MIT */
#include "actor/slots.h"

#include <stdlib.h>

#include <weir/status.h>

#define LINE 64

int slots_init(struct slots *slots)
{
    *slots = (struct slots){ .used = 0 };
    /* An eighth of a megabyte of address space; only pages for existing chunks are touched. */
    slots->chunks = calloc(SLOTS_CHUNKS_MAX, sizeof *slots->chunks);
    if (!slots->chunks)
        return WEIR_ENOMEM;
    stock_common_init(&slots->free);
    lock_init(&slots->lock, LOCK_SLOTS);
    return 0;
}

/* A chunk of zero pages that are untouched until they are used. Aligned by hand, since only calloc
 * knows that fresh memory is zero. The pointer to its allocation is in front of it. */
static struct actor *make_chunk(void)
{
    char *memory = calloc(1, SLOTS_CHUNK * sizeof(struct actor) + LINE);
    char *chunk;

    if (!memory)
        return NULL;
    chunk = memory + LINE - (uintptr_t)memory % LINE;
    ((void **)(void *)chunk)[-1] = memory;
    return (struct actor *)(void *)chunk;
}

static void free_chunk(struct actor *chunk)
{
    if (chunk)
        free(((void **)(void *)chunk)[-1]);
}

void slots_finish(struct slots *slots)
{
    for (uint32_t i = 0; i < SLOTS_CHUNKS_MAX && i * SLOTS_CHUNK < slots->used; i++)
        free_chunk(atomic_load_explicit(&slots->chunks[i], memory_order_relaxed));
    free(slots->chunks);
    stock_common_finish(&slots->free);
    lock_finish(&slots->lock);
}

static int add_chunk_locked(struct slots *slots)
{
    uint32_t index = slots->used / SLOTS_CHUNK;
    struct actor *chunk = index < SLOTS_CHUNKS_MAX ? make_chunk() : NULL;

    if (!chunk)
        return WEIR_ENOMEM;
    atomic_store_explicit(&slots->chunks[index], chunk, memory_order_release);
    return 0;
}

/* Puts one batch of unused slots into the thread's stock. */
static void use_more(struct slots *slots, struct stock *stock)
{
    struct actor *chunk; /* the chunk that contains the whole batch */
    uint32_t first;

    static_assert(SLOTS_CHUNK % STOCK_BATCH == 0, "a batch lies in one chunk");
    lock_acquire(&slots->lock);
    first = slots->used;
    if (first % SLOTS_CHUNK == 0 && add_chunk_locked(slots) != 0) {
        lock_release(&slots->lock);
        return;
    }
    slots->used += STOCK_BATCH;
    /* Relaxed: written under this lock. */
    chunk = atomic_load_explicit(&slots->chunks[first / SLOTS_CHUNK], memory_order_relaxed);
    lock_release(&slots->lock);
    for (uint32_t slot = first + STOCK_BATCH; slot-- > first;) {
        struct actor *actor = &chunk[slot % SLOTS_CHUNK];

        mailbox_init(&actor->mailbox, 0, 0);
        actor->pid = slot;
        stock_give(stock, &slots->free, &actor->free);
    }
}

/* Relaxed: a free slot belongs to its thread. */
static uint32_t word_serial(const struct actor *actor)
{
    return mailbox_serial(atomic_load_explicit(&actor->mailbox.word, memory_order_relaxed));
}

struct actor *slots_take(struct slots *slots, struct stock *stock, uint32_t *out_serial)
{
    struct stock_item *item = stock_take(stock, &slots->free);
    struct actor *actor;

    if (!item) {
        use_more(slots, stock);
        item = stock_take(stock, &slots->free);
    }
    if (!item)
        return NULL;
    actor = (struct actor *)(void *)((char *)item - offsetof(struct actor, free));
    *out_serial = word_serial(actor) + 1;
    return actor;
}

void slots_give(struct slots *slots, struct stock *stock, struct actor *actor)
{
    /* The next actor needs one serial, and its end another. */
    if (word_serial(actor) + 1 < MAILBOX_SERIAL_MAX)
        stock_give(stock, &slots->free, &actor->free);
}

void slots_visit(struct slots *slots, void (*visit)(struct actor *actor, void *context),
                 void *context)
{
    for (uint32_t i = 0; i < slots->used; i++)
        visit(slots_get(slots, i), context);
}
