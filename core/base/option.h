/* SPDX-License-Identifier: MIT */
/*
 * base/option.h - one option: checks a written value and fills its field.
 *
 * Works on one row of a weir_option table at a time; base/options.h handles whole tables. Not
 * synchronised.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include "base/report.h"
#include "base/text.h"

#include <weir/option.h>

enum option_shape {
    OPTION_NONE, /* the name has no value */
    OPTION_SCALAR,
    OPTION_LIST,
    OPTION_MAP,
    OPTION_NESTED, /* a list or map that contains more than texts: fits no option */
};

struct option_text {
    const char *text;
    struct mark mark;
    bool secret; /* came from a file of secrets */
};

/* One named value. Borrowed until options_parse returned. */
struct option_value {
    const char *name;
    struct mark name_mark;
    struct mark mark; /* of the value */
    enum option_shape shape;
    struct option_text scalar;
    const struct option_text *keys;  /* of a map; else NULL */
    const struct option_text *items; /* of a list, or the values of a map */
    size_t count;                    /* of items */
};

/* The position of the values: the prefix of every path, and the mark for missing options. */
struct option_place {
    const char *path; /* such as `pools.images.args`; may be "" */
    struct mark mark;
};

/*
 * option_fill writes `value` into its field; option_fill_fallback writes the default, or reports a
 * required option as missing at `place`. Keeps texts in `store`. `path` is the whole path of the
 * option. WEIR_EINVALID after a report, WEIR_ENOMEM.
 */
int option_fill(const struct weir_option *row, const struct option_value *value, const char *path,
                struct text_store *store, struct report *report, void *settings);
int option_fill_fallback(const struct weir_option *row, const struct mark *mark, const char *path,
                         struct text_store *store, struct report *report, void *settings);

#endif
