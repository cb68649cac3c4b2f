/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the position of each public field of SDK 1.0, according to one set of headers.
 *
 * layout.c is compiled twice into the test: with the headers of 1.0, and with today's.
 */
#ifndef TESTS_UNIT_ABI_LAYOUT_H
#define TESTS_UNIT_ABI_LAYOUT_H

#include <stddef.h>

enum layout_kind {
    LAYOUT_GROWS = 1,  /* a struct that may get more fields at its end */
    LAYOUT_FROZEN = 2, /* a struct that must not: it has neither a size nor a stride */
    LAYOUT_FIELD = 3,  /* of the struct before it: stays where it is */
    LAYOUT_SPARE = 4,  /* zeros of the struct before it: may be used up from its front */
    LAYOUT_VALUE = 5,  /* a constant: keeps its number */
};

struct layout_row {
    enum layout_kind kind;
    const char *name;
    long long at; /* offset of a field, number of a constant */
    size_t size;  /* of a struct or a field */
};

/* Every struct, field and constant of SDK 1.0. Ends with a row without a name. Static. */
const struct layout_row *layout_of_1_0(void);
const struct layout_row *layout_of_today(void);

#endif
