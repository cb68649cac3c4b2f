/*
 * base/option_kind.h - what the kinds of options are: their size, their bounds, their text.
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

/* NULL for a number that is no kind. Static. */
const struct option_kind *option_kind(uint32_t kind);
/* Its name; NULL for a number that is no kind. Static. */
const char *option_kind_name(uint32_t kind);

/* An integer of any kind: what neither int64_t nor uint64_t holds alone. */
struct option_number {
    bool negative;
    uint64_t magnitude;
};

struct option_bounds {
    struct option_number min;
    struct option_number max;
};

bool option_number_less(struct option_number left, struct option_number right);

/* True when the row narrows what fits its type. */
bool option_has_bounds(const struct weir_option *row);
/* What fits the type alone. */
struct option_bounds option_bounds_of_type(const struct weir_option *row);
/* What holds: its own bounds, else those of its type. */
struct option_bounds option_bounds_of(const struct weir_option *row);

/* The bounds that hold, in the kind's own units: `1..1000`, `at least 1KiB`. Cut at `size`. */
void option_bounds_format(const struct weir_option *row, char *text, size_t size);
/* As option_bounds_format, but "" when the row has none of its own. */
void option_bounds_text(const struct weir_option *row, char *text, size_t size);

/*
 * The value of the row's field in `settings`, so that equal texts are equal values; kept in
 * `store`. A string that is not set is `(none)`. NULL when memory is out. Secrets as they are.
 */
const char *option_format(const struct weir_option *row, const void *settings,
                          struct text_store *store);

#endif
