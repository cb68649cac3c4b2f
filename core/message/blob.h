/* SPDX-License-Identifier: MIT */
/*
 * message/blob.h - a payload that many messages share: counted, and freed with the last reference.
 *
 * Its creator fills it in; after the first message it is constant. Any thread may hold and release
 * it; a blob belongs to no runtime. It counts in the cap on memory once, however many messages have
 * it, from its creation until it is freed.
 */
#ifndef MESSAGE_BLOB_H
#define MESSAGE_BLOB_H

#include <stdatomic.h>

#include "message/memory.h"

#include <weir/plugin.h>

struct blob {
    struct weir_blob public; /* const */
    _Atomic uint32_t references;
    size_t counted;        /* const: bytes; kept here since plugins can write `public.size` */
    struct memory *memory; /* const: the cap; NULL: not counted */
};

#define BLOB_HEADER_SIZE 64 /* the payload starts on a cache line of its own */

/* With `size` bytes of zeros and one reference; NULL when memory is out. Returns owned. */
struct blob *blob_create(size_t size);

/* As blob_create, within the cap of the calling thread's share; NULL also when the cap is reached.
 * The size of the block counts. */
struct blob *blob_create_counted(struct memory_share *share, size_t size);

struct blob *blob_ref(struct blob *blob);
/* NULL is allowed. */
void blob_unref(struct blob *blob);

static inline struct blob *blob_of(struct weir_blob *public_part)
{
    return (struct blob *)(void *)public_part;
}

#endif
