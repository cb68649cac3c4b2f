/* SPDX-License-Identifier: MIT */
/*
 * wrapped.h - the functions of the C library that allocate, as the linker names them with --wrap.
 *
 * A file that includes it defines each __wrap_ function; __real_ is the function of the library.
 */
#ifndef TESTS_UNIT_SUPPORT_WRAPPED_H
#define TESTS_UNIT_SUPPORT_WRAPPED_H

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

#endif
