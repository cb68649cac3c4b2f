/* SPDX-License-Identifier: MIT */
/*
 * message/slab.h - the memory of small messages: blocks of two cache lines, carved from slabs.
 *
 * A block begins at a cache line, so a message in it touches two lines, not three. Slabs have one
 * owner, a cache; a slab whose blocks are all free goes back to malloc. A block may outlive its
 * owner: a plugin may hold a message longer than the runtime lives. The last such block frees the
 * slab.
 *
 * A fresh page costs more than all the rest of a message: the kernel maps it at the first write.
 * So the pages of a slab are mapped at once, and a set with many slabs carves the next ones from
 * regions, for which it asks for huge pages. A region goes back to malloc when all of its slabs are
 * free; until then free slabs of it are used before new ones, so a set never has more memory than
 * it once needed, and one region.
 *
 *                     | other slab_* | slab_release     X = one thread at a time for each set of
 *   slab_take/give    |      X       |      -               slabs; - = any threads at once
 *   slab_release      |      -       |      -
 */
#ifndef MESSAGE_SLAB_H
#define MESSAGE_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define SLAB_BLOCK 128 /* bytes of a block */

struct slab;

struct slabs {
    struct list all;      /* those with free blocks first */
    struct slab *carving; /* has blocks that were never taken; NULL = none */
    struct list spare;    /* slabs of regions whose blocks are all free */
    uint32_t count;       /* of `all` */
    struct slab *region;  /* the first slab of a region with unused slabs; NULL = none */
    uint32_t region_used; /* its slabs in use */
};

void slabs_init(struct slabs *slabs);
/* Frees the slabs; a slab with blocks in use is freed with the last of them, by slab_release. */
void slabs_finish(struct slabs *slabs);

/* A block with undefined contents; NULL: memory is out. */
void *slab_take(struct slabs *slabs);
/* Takes back a block of these slabs. */
void slab_give(struct slabs *slabs, void *block);

/* Takes back a block whose slabs are finished, or are finished at this moment. */
void slab_release(void *block);

#endif
