/* SPDX-License-Identifier: MIT */
/*
 * isolation/parcel.h - numbers, texts and bytes of one call, packed and unpacked.
 *
 * Numbers have the format of memory, since both processes run this program. An unpacking never
 * reads beyond the end: after the first value that is not there `wrong` is set, and all others are
 * 0, "" and NULL. A text ends with its NUL.
 *
 * Life: zeroed memory .. parcel_finish. Not synchronised.
 */
#ifndef HOST_ISOLATION_PARCEL_H
#define HOST_ISOLATION_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parcel {
    char *bytes; /* owned */
    size_t size;
    size_t room;
    bool failed; /* memory is out */
};

void parcel_finish(struct parcel *parcel);
/* Makes it empty, and keeps its memory. */
void parcel_clear(struct parcel *parcel);
void parcel_number(struct parcel *parcel, uint64_t number);
/* NULL is "". */
void parcel_text(struct parcel *parcel, const char *text);
void parcel_bytes(struct parcel *parcel, const void *bytes, size_t size);
/* Appends bytes without a size. False: memory is out. */
bool parcel_append(struct parcel *parcel, const void *bytes, size_t size);

struct unparcel {
    const char *at;
    const char *end;
    bool wrong;
};

struct unparcel unparcel_of(const void *bytes, size_t size);
uint64_t unparcel_number(struct unparcel *from);
/* Borrowed from the parcel. */
const char *unparcel_text(struct unparcel *from);
const void *unparcel_bytes(struct unparcel *from, size_t *out_size);

#endif
