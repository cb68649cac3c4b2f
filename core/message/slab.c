/* SPDX-License-Identifier: MIT */
#include "message/slab.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "message/pages.h"

/* 255 blocks: a slab's allocation costs a fraction of the first writes to its pages. */
#define SLAB_BYTES ((size_t)32 << 10)
/* malloc puts its own header before the next slab, which begins at a multiple of SLAB_BYTES. */
#define SLAB_USED (SLAB_BYTES - SLAB_BLOCK)
#define SLAB_BLOCKS (SLAB_USED / SLAB_BLOCK - 1)

#define REGION_BYTES ((size_t)2 << 20) /* a huge page */
#define REGION_SLABS (REGION_BYTES / SLAB_BYTES)
#define REGION_AFTER 32u /* slabs: 1 MiB, as much as a cache keeps when it is idle */

/* A free block. */
struct free_block {
    struct free_block *next;
};

/* The first block of its own memory. */
struct slab {
    struct list node; /* in slabs.all */
    struct free_block *free;
    uint32_t free_count;
    uint32_t carved; /* blocks that were taken at least once */
    /* Blocks that outlive their owner: each released block subtracts one, the owner's end adds
     * those that are in use. The slab is freed when the sum is 0 and the owner has ended. */
    _Atomic int32_t outliving;
    bool in_region; /* const: its memory is part of a region */
    /* Of the first slab of a region: */
    _Atomic uint32_t users; /* its slabs, and the owner while it has not used all of them */
    uint32_t spare;         /* owner: those in slabs.spare */
};

static_assert(sizeof(struct slab) <= SLAB_BLOCK, "the first block holds the slab's fields");

static struct slab *slab_of(const void *block)
{
    return (struct slab *)((uintptr_t)block & ~(uintptr_t)(SLAB_BYTES - 1));
}

void slabs_init(struct slabs *slabs)
{
    list_init(&slabs->all);
    slabs->carving = NULL;
    list_init(&slabs->spare);
    slabs->count = 0;
    slabs->region = NULL;
    slabs->region_used = 0;
}

static void list_prepend(struct list *list, struct list *node)
{
    list_append(list->next, node);
}

/* --- regions ---------------------------------------------------------------------------------- */

/* A user of the region is done. [SL2] acq_rel: all uses of its slabs come before the free. */
static void release_region(struct slab *first)
{
    if (atomic_fetch_sub_explicit(&first->users, 1, memory_order_acq_rel) == 1)
        free(first);
}

static struct slab *first_of_region(const struct slab *slab)
{
    return (struct slab *)((uintptr_t)slab & ~(uintptr_t)(REGION_BYTES - 1));
}

static struct slab *slab_of_region(struct slab *first, uint32_t index)
{
    return (struct slab *)(void *)((char *)first + index * SLAB_BYTES);
}

static struct slab *begin_region(struct slabs *slabs)
{
    void *memory;

    if (posix_memalign(&memory, REGION_BYTES, REGION_BYTES) != 0)
        return NULL;
    (void)madvise(memory, REGION_BYTES, MADV_HUGEPAGE); /* advice: nothing depends on it */
    slabs->region = memory;
    slabs->region_used = 0;
    return memory;
}

/* A slab of a region that was never used; NULL: memory is out. */
static struct slab *carve_region(struct slabs *slabs)
{
    struct slab *first = slabs->region ? slabs->region : begin_region(slabs);
    struct slab *slab;

    if (!first)
        return NULL;
    slab = slab_of_region(first, slabs->region_used);
    pages_map(slab, SLAB_BYTES);
    *slab = (struct slab){ .in_region = true };
    if (slab == first)
        atomic_init(&first->users, 1);
    /* Relaxed: the owner is a user already. */
    atomic_fetch_add_explicit(&first->users, 1, memory_order_relaxed);
    if (++slabs->region_used == REGION_SLABS) {
        slabs->region = NULL;
        release_region(first);
    }
    return slab;
}

static struct slab *take_spare(struct slabs *slabs)
{
    struct slab *slab = LIST_ENTRY(slabs->spare.next, struct slab, node);

    list_remove(&slab->node);
    first_of_region(slab)->spare--;
    slab->free = NULL;
    slab->free_count = 0;
    slab->carved = 0;
    return slab;
}

/* Keeps a slab of a region for later. Frees the region when none of its slabs is in use. */
static void keep_spare(struct slabs *slabs, struct slab *slab)
{
    struct slab *first = first_of_region(slab);
    uint32_t used = first == slabs->region ? slabs->region_used : REGION_SLABS;

    list_append(&slabs->spare, &slab->node);
    if (++first->spare < used)
        return;
    if (first == slabs->region)
        slabs->region = NULL;
    for (uint32_t i = 0; i < used; i++)
        list_remove(&slab_of_region(first, i)->node);
    free(first);
}

/* --- slabs ------------------------------------------------------------------------------------ */

/* The first one is mapped page by page: a thread with few messages needs few pages. */
static struct slab *make_slab(struct slabs *slabs)
{
    void *memory;

    if (!list_empty(&slabs->spare))
        return take_spare(slabs);
    if (slabs->count >= REGION_AFTER)
        return carve_region(slabs);
    if (posix_memalign(&memory, SLAB_BYTES, SLAB_USED) != 0)
        return NULL;
    if (slabs->count > 0)
        pages_map(memory, SLAB_BYTES);
    *(struct slab *)memory = (struct slab){ 0 };
    return memory;
}

static struct slab *add_slab(struct slabs *slabs)
{
    struct slab *slab = make_slab(slabs);

    if (!slab)
        return NULL;
    list_append(&slabs->all, &slab->node);
    slabs->count++;
    slabs->carving = slab;
    return slab;
}

static void *take_free(struct slabs *slabs, struct slab *slab)
{
    struct free_block *block = slab->free;

    slab->free = block->next;
    slab->free_count--;
    if (!slab->free) {
        list_remove(&slab->node);
        list_append(&slabs->all, &slab->node);
    }
    return block;
}

static void *carve(struct slabs *slabs, struct slab *slab)
{
    slab->carved++;
    if (slab->carved == SLAB_BLOCKS)
        slabs->carving = NULL;
    return (char *)slab + (size_t)slab->carved * SLAB_BLOCK;
}

void *slab_take(struct slabs *slabs)
{
    struct slab *slab;

    if (!list_empty(&slabs->all)) {
        slab = LIST_ENTRY(slabs->all.next, struct slab, node);
        if (slab->free)
            return take_free(slabs, slab);
    }
    slab = slabs->carving ? slabs->carving : add_slab(slabs);
    return slab ? carve(slabs, slab) : NULL;
}

void slab_give(struct slabs *slabs, void *block)
{
    struct slab *slab = slab_of(block);
    struct free_block *given = block;

    if (slab->free_count + 1 == SLAB_BLOCKS) {
        list_remove(&slab->node);
        slabs->count--;
        if (slab->in_region)
            keep_spare(slabs, slab);
        else
            free(slab);
        return;
    }
    if (!slab->free) {
        list_remove(&slab->node);
        list_prepend(&slabs->all, &slab->node);
    }
    given->next = slab->free;
    slab->free = given;
    slab->free_count++;
}

/* After the owner's end. */
static void free_slab(struct slab *slab)
{
    if (slab->in_region)
        release_region(first_of_region(slab));
    else
        free(slab);
}

/* The sum is 0 only after the owner's end. [SL1] acq_rel: all uses of the blocks come before the
 * free. */
static void add_outliving(struct slab *slab, int32_t change)
{
    if (atomic_fetch_add_explicit(&slab->outliving, change, memory_order_acq_rel) + change == 0)
        free_slab(slab);
}

void slabs_finish(struct slabs *slabs)
{
    struct list *node = slabs->all.next;

    while (node != &slabs->all) {
        struct slab *slab = LIST_ENTRY(node, struct slab, node);

        node = node->next;
        add_outliving(slab, (int32_t)(slab->carved - slab->free_count));
    }
    while (!list_empty(&slabs->spare))
        release_region(first_of_region(take_spare(slabs)));
    if (slabs->region)
        release_region(slabs->region);
    slabs_init(slabs);
}

void slab_release(void *block)
{
    add_outliving(slab_of(block), -1);
}
