/* SPDX-License-Identifier: MIT */
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

/* The block size of a blob without its header, when the sum does not overflow. */
static size_t room_for(size_t size)
{
    return (size + BLOB_HEADER_SIZE - 1) / BLOB_HEADER_SIZE * BLOB_HEADER_SIZE;
}

struct blob *blob_create(size_t size)
{
    struct blob *blob = NULL;

    if (size <= SIZE_MAX - 2 * BLOB_HEADER_SIZE)
        blob = aligned_alloc(BLOB_HEADER_SIZE, BLOB_HEADER_SIZE + room_for(size));
    if (!blob)
        return NULL;
    blob->public = (struct weir_blob){
        .data = (char *)blob + BLOB_HEADER_SIZE, .size = size, .hold = hold, .release = release
    };
    memset(blob->public.data, 0, size);
    atomic_init(&blob->references, 1);
    blob->memory = NULL;
    return blob;
}

struct blob *blob_create_counted(struct memory_share *share, size_t size)
{
    struct blob *blob;

    if (!memory_is_counted(share) || size > SIZE_MAX - 2 * BLOB_HEADER_SIZE)
        return blob_create(size);
    /* Before the allocation, so that a refusal costs none. */
    if (!memory_take(share, room_for(size)))
        return NULL;
    blob = blob_create(size);
    if (!blob) {
        memory_give(share, room_for(size));
        return NULL;
    }
    blob->memory = memory_ref(share->memory);
    blob->counted = room_for(size);
    return blob;
}

static void destroy(struct blob *blob)
{
    if (blob->memory)
        memory_return(blob->memory, blob->counted);
    memory_unref(blob->memory);
    free(blob);
}

struct blob *blob_ref(struct blob *blob)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
    return blob;
}

void blob_unref(struct blob *blob)
{
    /* Each release pairs with the acquire of the last one: all reads come before. */
    if (blob && atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) == 1)
        destroy(blob);
}
