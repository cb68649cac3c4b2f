/*
 * message/slab.h - the memory of small messages: blocks of two cache lines, carved from slabs.
 *
 * A block begins at a cache line, so a message in it touches two lines, not three. Slabs have one
 * owner, a cache; a slab whose blocks are all free goes back to malloc. A block may outlive its
 * owner: a plugin may hold a message longer than the runtime lives. The last such block frees the
 * slab.
 *
 *                     | other slab_* | slab_release     X = one thread at a time for each set of
 *   slab_take/give    |      X       |      -               slabs; - = any threads at once
 *   slab_release      |      -       |      -
 */
#ifndef MESSAGE_SLAB_H
#define MESSAGE_SLAB_H

#include <stddef.h>

#include "base/list.h"

#define SLAB_BLOCK 128 /* bytes of a block */

struct slab;

struct slabs {
    struct list all;      /* those with free blocks first */
    struct slab *carving; /* has blocks that were never taken; NULL = none */
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
