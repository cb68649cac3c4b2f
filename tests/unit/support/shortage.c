/* SPDX-License-Identifier: MIT */
#include "unit/support/shortage.h"

#include <errno.h>
#include <stdatomic.h>

#include "unit/support/wrapped.h"

/* How many allocations of this thread are left before one fails; 0: none fails. */
static _Thread_local uint32_t left;
static _Thread_local bool and_all_after; /* also the later ones */
static _Thread_local bool has_memory;    /* despite `others_have_none` */
static _Atomic bool others_have_none;

void shortage_begin(uint32_t nth, bool all_after)
{
    left = nth;
    and_all_after = all_after;
}

uint32_t shortage_end(void)
{
    uint32_t remains = left;

    left = 0;
    and_all_after = false;
    return remains;
}

void shortage_of_others(bool none_left)
{
    atomic_store(&others_have_none, none_left);
}

void shortage_spare(void)
{
    has_memory = true;
}

static bool fails(void)
{
    if (atomic_load(&others_have_none) && !has_memory)
        return true;
    if (left == 1 && and_all_after)
        return true;
    return left > 0 && --left == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    return fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}
