/*
 * message/blob.h - a payload that many messages share: counted, and freed with the last.
 *
 * Whoever made it fills it in; from the first message on nobody writes. Any thread may hold and
 * release; a blob belongs to no runtime. It counts in the cap on memory once, however many messages
 * have it, from when it is made until it is freed.
 */
#ifndef MESSAGE_BLOB_H
#define MESSAGE_BLOB_H

#include <stdatomic.h>

#include "message/memory.h"

#include <weir/plugin.h>

struct blob {
    struct weir_blob public; /* const */
    _Atomic uint32_t references;
    size_t counted;        /* const: bytes; `public.size` could be written to */
    struct memory *memory; /* const: where; NULL: it does not count */
};

#define BLOB_HEADER_SIZE 64 /* the payload starts on a line of its own */

/* With `size` bytes of zeros and one reference; NULL when memory is out. Returns owned. */
struct blob *blob_create(size_t size);

/* Likewise, within the cap of the calling thread's share; NULL also when that is reached. What
 * counts is the block that holds the payload. */
struct blob *blob_create_counted(struct memory_share *share, size_t size);

struct blob *blob_ref(struct blob *blob);
/* NULL is allowed. */
void blob_unref(struct blob *blob);

static inline struct blob *blob_of(struct weir_blob *public_part)
{
    return (struct blob *)(void *)public_part;
}

#endif
