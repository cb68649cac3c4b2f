/*
 * base/option.h - one option: a value as it was written, checked and put into its field.
 *
 * Works on one row of a weir_option table at a time; base/options.h does whole tables. Not
 * synchronised.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include "base/report.h"
#include "base/text.h"

#include <weir/option.h>

enum option_shape {
    OPTION_NONE, /* nothing stands behind the name */
    OPTION_SCALAR,
    OPTION_LIST,
    OPTION_MAP,
    OPTION_NESTED, /* a list or map that holds more than texts: fits no option */
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

/* Where the values stand: before the names in every path, and for what is missing. */
struct option_place {
    const char *path; /* such as `pools.images.args`; may be "" */
    struct mark mark;
};

/*
 * option_fill writes `value` into its field; option_fill_fallback the default,
 * or reports at `place` that it is missing. Keeps texts in `store`. `path` is the whole path of the
 * option. WEIR_EINVALID after a report, WEIR_ENOMEM.
 */
int option_fill(const struct weir_option *row, const struct option_value *value, const char *path,
                struct text_store *store, struct report *report, void *settings);
int option_fill_fallback(const struct weir_option *row, const struct mark *mark, const char *path,
                         struct text_store *store, struct report *report, void *settings);

#endif
