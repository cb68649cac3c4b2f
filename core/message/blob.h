/*
 * message/blob.h - a payload that many messages share: counted, and freed with the last.
 *
 * Whoever made it fills it in; from the first message on nobody writes. Any thread may hold and
 * release; a blob belongs to no runtime.
 */
#ifndef MESSAGE_BLOB_H
#define MESSAGE_BLOB_H

#include <stdatomic.h>

#include <weir/plugin.h>

struct blob {
    struct weir_blob public; /* const */
    _Atomic uint32_t references;
};

#define BLOB_HEADER_SIZE 64 /* the payload starts on a line of its own */

/* With `size` bytes of zeros and one reference; NULL when memory is out. Returns owned. */
struct blob *blob_create(size_t size);

struct blob *blob_ref(struct blob *blob);
/* NULL is allowed. */
void blob_unref(struct blob *blob);

static inline struct blob *blob_of(struct weir_blob *public_part)
{
    return (struct blob *)(void *)public_part;
}

#endif
