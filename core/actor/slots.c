#include "actor/slots.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

int slots_init(struct slots *slots)
{
    *slots = (struct slots){ 0 };
    /* Half a megabyte of address space; only the pages of chunks that exist are touched. */
    slots->chunks = calloc(SLOTS_CHUNKS_MAX, sizeof *slots->chunks);
    if (!slots->chunks)
        return WEIR_ENOMEM;
    pthread_mutex_init(&slots->lock, NULL);
    return 0;
}

void slots_finish(struct slots *slots)
{
    for (uint32_t i = 0; i < slots->chunk_count; i++)
        free(atomic_load_explicit(&slots->chunks[i], memory_order_relaxed));
    free(slots->chunks);
    free(slots->free_list);
    pthread_mutex_destroy(&slots->lock);
}

/* Room in the free list for every slot there is, so that giving back cannot fail. */
static int reserve_locked(struct slots *slots, uint32_t capacity)
{
    uint32_t *list;

    if (capacity <= slots->free_capacity)
        return 0;
    if (capacity < slots->free_capacity * 2)
        capacity = slots->free_capacity * 2;
    list = realloc(slots->free_list, capacity * sizeof *list);
    if (!list)
        return WEIR_ENOMEM;
    slots->free_list = list;
    slots->free_capacity = capacity;
    return 0;
}

static int grow_locked(struct slots *slots)
{
    struct actor *chunk;
    uint32_t base = slots->chunk_count * SLOTS_CHUNK;

    if (slots->chunk_count == SLOTS_CHUNKS_MAX || reserve_locked(slots, base + SLOTS_CHUNK) != 0)
        return WEIR_ENOMEM;
    chunk = aligned_alloc(64, SLOTS_CHUNK * sizeof *chunk);
    if (!chunk)
        return WEIR_ENOMEM;
    memset((void *)chunk, 0, SLOTS_CHUNK * sizeof *chunk);
    for (uint32_t i = SLOTS_CHUNK; i-- > 0;) {
        mailbox_init(&chunk[i].mailbox, 1, 0);
        chunk[i].slot = base + i;
        slots->free_list[slots->free_count++] = base + i;
    }
    atomic_store_explicit(&slots->chunks[slots->chunk_count++], chunk, memory_order_release);
    return 0;
}

struct actor *slots_take(struct slots *slots, uint32_t *out_serial)
{
    struct actor *actor = NULL;

    pthread_mutex_lock(&slots->lock);
    if (slots->free_count > 0 || grow_locked(slots) == 0)
        actor = slots_get(slots, slots->free_list[--slots->free_count]);
    pthread_mutex_unlock(&slots->lock);
    if (actor)
        *out_serial = mailbox_serial(
            atomic_load_explicit(&actor->mailbox.word, memory_order_relaxed));
    return actor;
}

void slots_give(struct slots *slots, struct actor *actor)
{
    uint64_t word = atomic_load_explicit(&actor->mailbox.word, memory_order_relaxed);

    if (mailbox_serial(word) >= MAILBOX_SERIAL_MAX)
        return;
    pthread_mutex_lock(&slots->lock);
    slots->free_list[slots->free_count++] = actor->slot;
    pthread_mutex_unlock(&slots->lock);
}

void slots_visit(struct slots *slots, void (*visit)(struct actor *actor, void *context),
                 void *context)
{
    for (uint32_t i = 0; i < slots->chunk_count * SLOTS_CHUNK; i++)
        visit(slots_get(slots, i), context);
}
