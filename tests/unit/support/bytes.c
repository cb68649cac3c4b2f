/* SPDX-License-Identifier: MIT */
#include "unit/support/bytes.h"

#include <stdatomic.h>

#include "unit/support/wrapped.h"

static _Atomic uint64_t bytes;

uint64_t bytes_allocated(void)
{
    return atomic_load(&bytes);
}

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&bytes, size);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    atomic_fetch_add(&bytes, count * size);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    atomic_fetch_add(&bytes, size);
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&bytes, size);
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    atomic_fetch_add(&bytes, size);
    return __real_posix_memalign(out, alignment, size);
}
