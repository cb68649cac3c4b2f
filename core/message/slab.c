#include "message/slab.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* 255 blocks: to get one costs a fraction of what the first write to its pages costs. */
#define SLAB_BYTES ((size_t)32 << 10)
/* malloc puts its own header before the next slab, which begins at a multiple of SLAB_BYTES. */
#define SLAB_USED (SLAB_BYTES - SLAB_BLOCK)
#define SLAB_BLOCKS (SLAB_USED / SLAB_BLOCK - 1)

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
}

static void list_prepend(struct list *list, struct list *node)
{
    list_append(list->next, node);
}

static struct slab *add_slab(struct slabs *slabs)
{
    void *memory;
    struct slab *slab;

    if (posix_memalign(&memory, SLAB_BYTES, SLAB_USED) != 0)
        return NULL;
    slab = memory;
    *slab = (struct slab){ 0 };
    list_append(&slabs->all, &slab->node);
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

/* The sum is 0 only after the owner's end. [SL1] acq_rel: all uses of the blocks come before the
 * free. */
static void add_outliving(struct slab *slab, int32_t change)
{
    if (atomic_fetch_add_explicit(&slab->outliving, change, memory_order_acq_rel) + change == 0)
        free(slab);
}

void slabs_finish(struct slabs *slabs)
{
    struct list *node = slabs->all.next;

    while (node != &slabs->all) {
        struct slab *slab = LIST_ENTRY(node, struct slab, node);

        node = node->next;
        add_outliving(slab, (int32_t)(slab->carved - slab->free_count));
    }
    slabs_init(slabs);
}

void slab_release(void *block)
{
    add_outliving(slab_of(block), -1);
}
