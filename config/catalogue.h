/*
 * config/catalogue.h - how the language asks for the behaviours that a file names.
 *
 * The host fills it in over its plugin loader; tests over tables of their own. The language itself
 * loads nothing.
 */
#ifndef CONFIG_CATALOGUE_H
#define CONFIG_CATALOGUE_H

#include <stdatomic.h>

#include <weir/plugin.h>

#include "base/options.h"

#define CATALOGUE_PROBLEM_SIZE 512

/* A behaviour that was found. Lives as long as the catalogue says; outlives the settings. */
struct catalogue_entry {
    const struct weir_behaviour *behaviour; /* its tables are in this build's layout */
    const char *plugin;
    const char *version;
    uint32_t generation;   /* of the plugin, counted by its name */
    uint64_t content_hash; /* of the plugin's file */
    /* Counts the settings that name it, as long as they are kept; NULL: not counted. */
    _Atomic uint32_t *users;
};

/* Why one was not found: one sentence. */
struct catalogue_problem {
    char text[CATALOGUE_PROBLEM_SIZE];
};

/* A call of a behaviour's `check` that is to be made. */
struct catalogue_check {
    const struct catalogue_entry *entry;
    const struct option_value *values; /* its args as they are written */
    size_t count;                      /* of values */
    const struct options *options;     /* the same as the behaviour takes them */
    struct option_place place;         /* where they stand */
};

struct catalogue {
    void *context;
    /* `use` is `plugin.behaviour`. Borrowed; NULL, and why, when there is none. */
    const struct catalogue_entry *(*find)(void *context, const char *use,
                                          struct catalogue_problem *why);
    /* All that there are, before the first is made. Borrows them until the check is over. NULL:
     * nobody wants to know. */
    void (*begin_checks)(void *context, const struct catalogue_check *checks, size_t count);
    /* Before each of them, in that order: it may be made on 0; otherwise `why` says why not. NULL:
     * always. */
    int (*begin_check)(void *context, struct catalogue_problem *why);
};

#endif
