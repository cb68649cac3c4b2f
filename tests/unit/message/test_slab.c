/* SPDX-License-Identifier: MIT */
/*
 * Goal: blocks are the taker's alone, for as long as it has them, also after the end of their
 * slabs; and a set of slabs has no more memory than it needed at once.
 *
 * Method: more blocks than the slabs that are taken one by one, so that regions are used. Each
 * block is filled with its own number, and checked before it goes back. AddressSanitizer and its
 * leak check see the memory.
 */
#include "message/slab.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/host/suite.h"

#define SLAB_BYTES ((uintptr_t)32 << 10)
#define BLOCKS_OF_SLAB 254u /* at least so many fit in a slab */
#define BLOCKS 60000u       /* 7.5 MB: some regions */

struct block {
    uint64_t number;
    unsigned char rest[SLAB_BLOCK - sizeof(uint64_t)];
};

static struct block **take(struct slabs *slabs, uint32_t count)
{
    struct block **blocks = calloc(count, sizeof(struct block *));

    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = slab_take(slabs);
        CU_ASSERT_PTR_NOT_NULL_FATAL(blocks[i]);
        memset(blocks[i], (int)(i % 251), sizeof **blocks);
        blocks[i]->number = i;
    }
    return blocks;
}

/* The number of blocks whose contents another block has overwritten. */
static uint32_t count_damaged(struct block **blocks, uint32_t count)
{
    uint32_t damaged = 0;

    for (uint32_t i = 0; i < count; i++)
        damaged += blocks[i]->number != i || blocks[i]->rest[0] != i % 251 ||
                   blocks[i]->rest[sizeof blocks[i]->rest - 1] != i % 251;
    return damaged;
}

static int compare(const void *a, const void *b)
{
    uintptr_t one = *(const uintptr_t *)a, other = *(const uintptr_t *)b;

    return (one > other) - (one < other);
}

/* The number of slabs that the blocks lie in. */
static uint32_t count_slabs(struct block **blocks, uint32_t count)
{
    uintptr_t *slabs = calloc(count, sizeof *slabs);
    uint32_t different = 0;

    for (uint32_t i = 0; i < count; i++)
        slabs[i] = (uintptr_t)blocks[i] / SLAB_BYTES;
    qsort(slabs, count, sizeof *slabs, compare);
    for (uint32_t i = 0; i < count; i++)
        different += i == 0 || slabs[i] != slabs[i - 1];
    free(slabs);
    return different;
}

static void test_blocks_do_not_overlap(void)
{
    struct slabs slabs;
    struct block **blocks;

    slabs_init(&slabs);
    blocks = take(&slabs, BLOCKS);
    CU_ASSERT_EQUAL(count_damaged(blocks, BLOCKS), 0);
    CU_ASSERT_TRUE(count_slabs(blocks, BLOCKS) <= BLOCKS / BLOCKS_OF_SLAB + 1);
    for (uint32_t i = 0; i < BLOCKS; i++)
        CU_ASSERT_EQUAL((uintptr_t)blocks[i] % 64, 0);
    for (uint32_t i = 0; i < BLOCKS; i++)
        slab_give(&slabs, blocks[i]);
    slabs_finish(&slabs);
    free(blocks);
}

/* Slabs whose blocks are all free are used before new ones: after each burst of the same size the
 * set has as many slabs as after the first one. */
static void test_bursts_need_no_more_slabs_than_one(void)
{
    struct slabs slabs;
    struct block *kept[4] = { NULL };
    uint32_t most = 0;

    slabs_init(&slabs);
    for (uint32_t burst = 0; burst < 4; burst++) {
        struct block **blocks = take(&slabs, BLOCKS);
        uint32_t used = count_slabs(blocks, BLOCKS);

        if (burst == 0)
            most = used + 1; /* the kept blocks of later bursts */
        CU_ASSERT_TRUE(used <= most);
        CU_ASSERT_TRUE(slabs.count <= most);
        kept[burst] = blocks[burst * BLOCKS / 5];
        for (uint32_t i = 0; i < BLOCKS; i++)
            if (blocks[i] != kept[burst])
                slab_give(&slabs, blocks[i]);
        CU_ASSERT_TRUE(slabs.count <= burst + 2);
        free(blocks);
    }
    for (uint32_t burst = 0; burst < 4; burst++)
        slab_give(&slabs, kept[burst]);
    slabs_finish(&slabs);
}

static void test_blocks_outlive_their_slabs(void)
{
    struct slabs slabs;
    struct block **blocks;

    slabs_init(&slabs);
    blocks = take(&slabs, BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i += 2)
        slab_give(&slabs, blocks[i]);
    for (uint32_t i = BLOCKS / 2 + 1; i < BLOCKS / 2 + 20 * BLOCKS_OF_SLAB; i += 2) {
        slab_give(&slabs, blocks[i]); /* so that whole slabs of a region are free */
        blocks[i] = NULL;
    }
    slabs_finish(&slabs);
    for (uint32_t i = 1; i < BLOCKS; i += 2) {
        if (!blocks[i])
            continue;
        CU_ASSERT_EQUAL(blocks[i]->number, i);
        slab_release(blocks[i]);
    }
    free(blocks);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "alone", test_blocks_do_not_overlap },
        { "bursts", test_bursts_need_no_more_slabs_than_one },
        { "outlive", test_blocks_outlive_their_slabs },
        CU_TEST_INFO_NULL,
    };

    return suite_run("slab", tests);
}
