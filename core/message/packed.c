/* SPDX-License-Identifier: MIT */
#include "message/packed.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "message/pages.h"

#define PAYLOAD 16                                            /* bytes */
#define KEPT (MESSAGE_TASK | MESSAGE_ORIGIN | MESSAGE_DIRECT) /* flags of a packed task */

/* The part of a message that a mailbox uses begins with `size` and ends with `next`. */
struct packed {
    size_t size;
    uint64_t payload[PAYLOAD / sizeof(uint64_t)];
    uint64_t token; /* the group, with MESSAGE_ORIGIN */
    uint8_t kind;
    uint8_t lane;
    uint16_t attempt;
    uint32_t reserved;
    _Atomic(struct message *) next;
};

#define FRONT offsetof(struct message, public.size) /* bytes of a message before that part */
#define SAME_PLACE(field, in_message)                                                              \
    static_assert(offsetof(struct packed, field) + FRONT == offsetof(struct message, in_message),  \
                  "a mailbox finds the field")

SAME_PLACE(size, public.size);
SAME_PLACE(lane, public.lane);
SAME_PLACE(reserved, public.reserved);
SAME_PLACE(next, next);

#define CHUNK_BYTES ((size_t)32 << 10)
/* malloc puts its own header before the next chunk, which begins at a multiple of CHUNK_BYTES. */
#define CHUNK_USED (CHUNK_BYTES - 64)
#define CHUNK_TASKS ((CHUNK_USED - 64) / sizeof(struct packed))

struct packed_chunk {
    _Atomic uint32_t left; /* tasks that are not made yet, or not opened yet */
    alignas(64) struct packed tasks[];
};

static struct packed_chunk *chunk_of(const struct packed *packed)
{
    return (struct packed_chunk *)((uintptr_t)packed & ~(uintptr_t)(CHUNK_BYTES - 1));
}

static struct packed *packed_of(struct message *message)
{
    return (struct packed *)(void *)((char *)message + FRONT);
}

static void leave(struct packed_chunk *chunk, uint32_t tasks)
{
    /* acq_rel: all uses of the chunk come before the free. */
    if (atomic_fetch_sub_explicit(&chunk->left, tasks, memory_order_acq_rel) == tasks)
        free(chunk);
}

void packing_finish(struct packing *packing)
{
    if (packing->chunk)
        leave(packing->chunk, (uint32_t)CHUNK_TASKS - packing->used);
    packing->chunk = NULL;
}

static bool begin_chunk(struct packing *packing)
{
    void *memory;

    if (posix_memalign(&memory, CHUNK_BYTES, CHUNK_USED) != 0)
        return false;
    pages_map(memory, CHUNK_USED);
    packing->chunk = memory;
    packing->used = 0;
    atomic_init(&packing->chunk->left, CHUNK_TASKS);
    return true;
}

static struct packed *take(struct packing *packing)
{
    struct packed *packed;

    if (!packing->chunk && !begin_chunk(packing))
        return NULL;
    packed = &packing->chunk->tasks[packing->used++];
    if (packing->used == CHUNK_TASKS)
        packing->chunk = NULL;
    return packed;
}

static bool has_packed_form(const struct message *task)
{
    const struct weir_message *public = &task->public;
    bool is_of_group = !(public->reserved & MESSAGE_ORIGIN) || task->origin == 0;

    return public->size == PAYLOAD && public->kind == WEIR_MESSAGE && public->attempt == 1 &&
           !public->key && !public->from && !(public->reserved & ~(KEPT | MESSAGE_CLASS_MASK)) &&
           is_of_group;
}

struct message *packed_make(struct packing *packing, const struct message *task)
{
    struct packed *packed = has_packed_form(task) ? take(packing) : NULL;

    if (!packed)
        return NULL;
    packed->size = PAYLOAD;
    memcpy(packed->payload, task->public.data, PAYLOAD);
    packed->token = task->token;
    packed->lane = task->public.lane;
    packed->reserved = (task->public.reserved & KEPT) | MESSAGE_PACKED;
    return (struct message *)(void *)((char *)packed - FRONT);
}

uint64_t packed_group(const struct message *packed)
{
    const struct packed *from = (const void *)((const char *)packed + FRONT);

    return from->reserved & MESSAGE_ORIGIN ? from->token : 0;
}

void packed_open(struct message *packed, struct message *message)
{
    struct packed *from = packed_of(packed);

    memcpy(message->public.data, from->payload, PAYLOAD);
    message->public.lane = from->lane;
    message->public.reserved |= from->reserved & KEPT;
    message->origin = 0;
    message->token = from->token;
    leave(chunk_of(from), 1);
}

void packed_drop(struct message *packed)
{
    leave(chunk_of(packed_of(packed)), 1);
}
