/* SPDX-License-Identifier: MIT */
/*
 * base/option_kind.h - the kinds of options: their sizes, bounds and texts.
 *
 * Not synchronised; everything static is constant.
 */
#ifndef BASE_OPTION_KIND_H
#define BASE_OPTION_KIND_H

#include "base/text.h"

#include <weir/option.h>

struct option_kind {
    const char *name;   /* `u32`, `duration`, ... */
    size_t size;        /* of the field */
    size_t alignment;   /* likewise */
    const char *wanted; /* for `must be ...` */
};

/* NULL for an unknown kind. Static. */
const struct option_kind *option_kind(uint32_t kind);
/* Its name; NULL for an unknown kind. Static. */
const char *option_kind_name(uint32_t kind);

/* An integer of any kind, with the range of int64_t and uint64_t together. */
struct option_number {
    bool negative;
    uint64_t magnitude;
};

struct option_bounds {
    struct option_number min;
    struct option_number max;
};

bool option_number_less(struct option_number left, struct option_number right);

/* True when the text is one of the row's choices. */
bool option_is_choice(const struct weir_option *row, const char *text);

/* True when the row has bounds narrower than its type's. */
bool option_has_bounds(const struct weir_option *row);
/* The bounds of the type. */
struct option_bounds option_bounds_of_type(const struct weir_option *row);
/* The effective bounds: the row's own, else those of its type. */
struct option_bounds option_bounds_of(const struct weir_option *row);

/* The effective bounds, in the kind's own units: `1..1000`, `at least 1KiB`. Truncated at
 * `size`. */
void option_bounds_format(const struct weir_option *row, char *text, size_t size);
/* As option_bounds_format, but "" when the row has no bounds. */
void option_bounds_text(const struct weir_option *row, char *text, size_t size);

/*
 * The value of the row's field in `settings`; equal texts are equal values. Kept in `store`. A
 * string that is not set is `(none)`. NULL when memory is out. Shows secrets.
 */
const char *option_format(const struct weir_option *row, const void *settings,
                          struct text_store *store);

#endif
