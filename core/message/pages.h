/* SPDX-License-Identifier: MIT */
/*
 * message/pages.h - memory whose pages are about to be written.
 */
#ifndef MESSAGE_PAGES_H
#define MESSAGE_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/* Maps the pages by one call. Without it the first write to each of them costs a fault; a kernel
 * that cannot do it changes nothing else. The memory begins at a page. */
static inline void pages_map(void *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    (void)madvise(memory, bytes, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
