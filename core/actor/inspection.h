/* SPDX-License-Identifier: MIT */
/*
 * actor/inspection.h - the answer to an inspect under construction: names and texts.
 *
 * Life: init, add.., take or finish. Items past the bound, or without memory, are left out. One
 * thread.
 */
#ifndef ACTOR_INSPECTION_H
#define ACTOR_INSPECTION_H

#include <weir/plugin.h>

#define INSPECTION_SIZE_MAX (64u << 10) /* of an answer: a few hundred items */

struct inspection {
    struct weir_inspection public; /* first: a behaviour's pointer is cast back to this struct */
    const char *wanted;            /* borrowed: names, each with its NUL; empty = all */
    size_t wanted_size;
    char *text; /* owned: name NUL value NUL ... */
    size_t size;
    size_t capacity;
};

/* Borrows `wanted` until finish. */
void inspection_init(struct inspection *inspection, const char *wanted, size_t wanted_size);
void inspection_finish(struct inspection *inspection);

/* Adds an item, if it was requested and is not there yet. Borrows. */
void inspection_text(struct inspection *inspection, const char *item, const char *value);
void inspection_number(struct inspection *inspection, const char *item, uint64_t value);
/* The limit of a mailbox: a number, or the word of the file for WEIR_UNBUFFERED or 0, unlimited. */
void inspection_capacity(struct inspection *inspection, const char *item, uint64_t limit);

#endif
