/* SPDX-License-Identifier: MIT */
/*
 * config/catalogue.h - the interface by which the language looks up the behaviours of a file.
 *
 * The host implements it with its plugin loader, tests with tables of their own. The language
 * itself loads nothing.
 */
#ifndef CONFIG_CATALOGUE_H
#define CONFIG_CATALOGUE_H

#include <stdatomic.h>

#include <weir/plugin.h>

#include "base/options.h"

#define CATALOGUE_PROBLEM_SIZE 512

/* A behaviour that was found. It lives as long as the catalogue, and outlives the settings. */
struct catalogue_entry {
    const struct weir_behaviour *behaviour; /* its tables are in this build's layout */
    const char *plugin;
    const char *version;
    uint32_t generation;   /* of the plugin, counted by its name */
    uint64_t content_hash; /* of the plugin's file */
    const char *file;      /* of the plugin; NULL: not known */
    int image;             /* descriptor of a copy of the file, for another process; -1 = none */
    /* Counts the settings that name it, as long as they are kept; NULL: not counted. */
    _Atomic uint32_t *users;
};

/* Why a behaviour was not found, in one sentence. */
struct catalogue_problem {
    char text[CATALOGUE_PROBLEM_SIZE];
};

/* A call of a behaviour's `check`. */
struct catalogue_check {
    const struct catalogue_entry *entry;
    const struct option_value *values; /* the behaviour's args as the file has them */
    size_t count;                      /* of values */
    const struct options *options;     /* the same args, parsed */
    struct option_place place;         /* the position of the args in the file */
};

struct catalogue {
    void *context;
    /* `use` is `plugin.behaviour`. Borrowed. NULL when there is none; `why` then has the reason. */
    const struct catalogue_entry *(*find)(void *context, const char *use,
                                          struct catalogue_problem *why);
    /* Announces all calls before the first is made. Borrows `checks` until the check is over. NULL:
     * the catalogue does not need it. */
    void (*begin_checks)(void *context, const struct catalogue_check *checks, size_t count);
    /* Called before each of them, in the same order. On 0 the call may be made; otherwise `why` has
     * the reason. NULL: every call may be made. */
    int (*begin_check)(void *context, struct catalogue_problem *why);
};

#endif
