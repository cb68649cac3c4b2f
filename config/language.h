/* SPDX-License-Identifier: MIT */
/*
 * config/language.h - the language as tables: every key with its kind, bounds, default and help.
 *
 * These tables are the only description of the language. The checker fills settings from them; the
 * reference, the schema and the sample file are generated from them. A row is an option's row; a
 * key that is more than a value has a kind of its own, and the part of the checker for that kind
 * reads it.
 */
#ifndef CONFIG_LANGUAGE_H
#define CONFIG_LANGUAGE_H

#include <weir/option.h>

/* Kinds besides those of weir_option_kind. */
enum language_kind {
    LANGUAGE_SECTION = 64, /* a map of the rows given; filled in place */
    LANGUAGE_NAMES,        /* a map from names to the rows given */
    LANGUAGE_RANGE,        /* durations `a..b`: two adjacent uint64_t, 0 without the key */
    LANGUAGE_COUNT,        /* a number of workers, or {min, max} */
    LANGUAGE_CAPACITY,     /* of a mailbox: a number or a word; see capacity.h */
    LANGUAGE_BOUND,        /* a number, or `unlimited`; see bound.h */
    LANGUAGE_RATE,         /* a text such as 100/s, or the rows given: a struct rate */
    LANGUAGE_THREADS,      /* a number, or auto */
    LANGUAGE_BEHAVIOUR,    /* plugin.behaviour */
    LANGUAGE_ARGS,         /* the behaviour's options */
    LANGUAGE_DISPATCHER,   /* the name of a dispatcher */
    LANGUAGE_TARGET,       /* the path of a pool */
    LANGUAGE_OUTPUTS,      /* from names of outputs to targets, or {to, when_full, rate} */
    LANGUAGE_POOL,         /* a pool, as a template */
    LANGUAGE_FILES,        /* names and patterns */
    LANGUAGE_VERSION,
};

/* The pools that a row belongs to; 0 = all. */
enum language_scope {
    LANGUAGE_OF_WORKERS = 1,
    LANGUAGE_OF_POOLS = 2,
};

struct language_row {
    struct weir_option option;
    const struct language_row *rows; /* of a section or of names; ends with a NULL name */
    uint32_t scope;
};

/* All end with a NULL name. */
extern const struct language_row language_top[];
extern const struct language_row language_host[];       /* of struct settings_host */
extern const struct language_row language_dispatcher[]; /* of struct settings_dispatcher */
extern const struct language_row language_source[];     /* of struct settings_source */
extern const struct language_row language_pool[];       /* of struct settings_pool */
extern const struct language_row language_output[];     /* of struct settings_output */

/* True for a kind that options have, too: the key is just a value. */
bool language_is_value(const struct language_row *row);

/* True when the row is of the scope; 0 = any. */
bool language_is_in(const struct language_row *row, uint32_t scope);

/* The row of that name; NULL when there is none. */
const struct language_row *language_find(const struct language_row *rows, const char *name);
/* As language_find, but prefers the row of that scope. */
const struct language_row *language_find_in(const struct language_row *rows, uint32_t scope,
                                            const char *name);

/* The word for a choice of an enum's row in a table; "?" when there is none. Static. */
const char *language_choice(const struct language_row *rows, const char *name, uint32_t choice);

/* The word for an enum's value in a file. Static; "?" for an unknown value. */
const char *language_route_name(uint32_t route);
const char *language_when_full_name(uint32_t when_full);

#endif
