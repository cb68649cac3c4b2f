/*
 * actor/inspection.h - the answer to an inspect, while it is written: names and texts.
 *
 * Life: init, add.., take or finish. Without memory, or past its bound, what does not fit is left
 * out. One thread.
 */
#ifndef ACTOR_INSPECTION_H
#define ACTOR_INSPECTION_H

#include <weir/plugin.h>

#define INSPECTION_SIZE_MAX (64u << 10) /* of an answer: a few hundred items */

struct inspection {
    struct weir_inspection public; /* first: found again from what a behaviour hands over */
    const char *wanted;            /* borrowed: names, each with its NUL; all when there is none */
    size_t wanted_size;
    char *text; /* owned: name NUL value NUL ... */
    size_t size;
    size_t capacity;
};

/* Borrows `wanted` until finish. */
void inspection_init(struct inspection *inspection, const char *wanted, size_t wanted_size);
void inspection_finish(struct inspection *inspection);

/* Adds an item, if it is wanted and was not told before. Borrows. */
void inspection_text(struct inspection *inspection, const char *item, const char *value);
void inspection_number(struct inspection *inspection, const char *item, uint64_t value);

#endif
