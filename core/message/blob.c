#include "message/blob.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct blob) <= BLOB_HEADER_SIZE, "the payload must not overlap");

static void hold(struct weir_blob *blob)
{
    (void)blob_ref(blob_of(blob));
}

static void release(struct weir_blob *blob)
{
    blob_unref(blob_of(blob));
}

struct blob *blob_create(size_t size)
{
    struct blob *blob = NULL;

    if (size <= SIZE_MAX - 2 * BLOB_HEADER_SIZE)
        blob = aligned_alloc(BLOB_HEADER_SIZE, (BLOB_HEADER_SIZE + size + BLOB_HEADER_SIZE - 1) /
                                                   BLOB_HEADER_SIZE * BLOB_HEADER_SIZE);
    if (!blob)
        return NULL;
    blob->public = (struct weir_blob){
        .data = (char *)blob + BLOB_HEADER_SIZE, .size = size, .hold = hold, .release = release
    };
    memset(blob->public.data, 0, size);
    atomic_init(&blob->references, 1);
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    /* Relaxed: who takes a reference has one already. */
    atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
    return blob;
}

void blob_unref(struct blob *blob)
{
    /* Each release pairs with the acquire of the last one: all reading was before. */
    if (blob && atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) == 1)
        free(blob);
}
