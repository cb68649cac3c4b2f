/* SPDX-License-Identifier: MIT */
/*
 * actor/slots.h - the memory of all actors, found by number.
 *
 * Chunks are never moved or freed while the runtime lives, so a lookup is two loads and no lock.
 * The serial of a slot is odd while an actor has it, and even while it is free: it grows by one
 * when an actor is made there and when it ends. PIDs have odd serials, so none names a free slot. A
 * slot whose serials are used up is not used again. Each thread keeps some free slots
 * (dispatch/stock.h). Memory of slots that were never used is not touched.
 *
 *            | get | take | give
 *   all      |  -  |  -   |  -      any threads, each with its own stock
 */
#ifndef ACTOR_SLOTS_H
#define ACTOR_SLOTS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "dispatch/stock.h"

struct actor;

#define SLOTS_CHUNK 1024       /* actors in a chunk: 320 KiB of address space */
#define SLOTS_CHUNKS_MAX 16384 /* 16 million actors */

struct slots {
    _Atomic(struct actor *) *chunks; /* const; the entries are written under lock, read by all */
    alignas(64) struct stock_common free;
    struct lock lock;
    uint32_t used; /* lock: lower numbers have been given out before */
};

/* WEIR_ENOMEM. */
int slots_init(struct slots *slots);
void slots_finish(struct slots *slots);

/* A free slot, with `slot` filled in, and the serial of its next actor; NULL when memory is out. */
struct actor *slots_take(struct slots *slots, struct stock *stock, uint32_t *out_serial);

/* Frees a slot, after its mailbox was ended and a grace period. */
void slots_give(struct slots *slots, struct stock *stock, struct actor *actor);

/* NULL: no such slot. */
static inline struct actor *slots_get(struct slots *slots, uint32_t slot);

/* Calls `visit` for every slot that was ever used. No actor may be spawned during the call. */
void slots_visit(struct slots *slots, void (*visit)(struct actor *actor, void *context),
                 void *context);

#include "actor/actor.h"

static inline struct actor *slots_get(struct slots *slots, uint32_t slot)
{
    struct actor *chunk;

    if (slot >= SLOTS_CHUNK * SLOTS_CHUNKS_MAX)
        return NULL;
    /* Acquire pairs with the release in add_chunk_locked: the chunk is zero. */
    chunk = atomic_load_explicit(&slots->chunks[slot / SLOTS_CHUNK], memory_order_acquire);
    return chunk ? &chunk[slot % SLOTS_CHUNK] : NULL;
}

#endif
