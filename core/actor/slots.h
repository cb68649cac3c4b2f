/*
 * actor/slots.h - the memory of all actors, found by number.
 *
 * Chunks are never moved or freed while the runtime lives, so a lookup is two loads and no lock.
 * A slot keeps the serial of its last actor; a slot whose serials are used up is not used again.
 *
 *            | get | take | give
 *   all      |  -  |  -   |  -      any threads; take and give lock
 */
#ifndef ACTOR_SLOTS_H
#define ACTOR_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct actor;

#define SLOTS_CHUNK 256        /* actors a chunk: 100 KiB */
#define SLOTS_CHUNKS_MAX 65536 /* 16 million actors */

struct slots {
    pthread_mutex_t lock;
    uint32_t *free_list;             /* lock: numbers, last in first out, hot ones first */
    uint32_t free_count;             /* lock */
    uint32_t free_capacity;          /* lock */
    uint32_t chunk_count;            /* lock */
    _Atomic(struct actor *) *chunks; /* written under lock, read by all */
};

/* WEIR_ENOMEM. */
int slots_init(struct slots *slots);
void slots_finish(struct slots *slots);

/* A free slot, its `slot` and next serial filled in; NULL when memory is out. */
struct actor *slots_take(struct slots *slots, uint32_t *out_serial);

/* Makes a slot free again, after its mailbox was ended and a grace period. */
void slots_give(struct slots *slots, struct actor *actor);

/* NULL: no such slot. */
static inline struct actor *slots_get(struct slots *slots, uint32_t slot);

/* Calls `visit` for every slot that was ever used. Nobody may spawn meanwhile. */
void slots_visit(struct slots *slots, void (*visit)(struct actor *actor, void *context),
                 void *context);

#include "actor/actor.h"

static inline struct actor *slots_get(struct slots *slots, uint32_t slot)
{
    struct actor *chunk;

    if (slot >= SLOTS_CHUNK * SLOTS_CHUNKS_MAX)
        return NULL;
    /* Acquire pairs with the release in grow_locked: the chunk is initialised. */
    chunk = atomic_load_explicit(&slots->chunks[slot / SLOTS_CHUNK], memory_order_acquire);
    return chunk ? &chunk[slot % SLOTS_CHUNK] : NULL;
}

#endif
