/*
 * config/catalogue.h - how the language asks for the behaviours that a file names.
 *
 * The host fills it in over its plugin loader; tests over tables of their own. The language itself
 * loads nothing.
 */
#ifndef CONFIG_CATALOGUE_H
#define CONFIG_CATALOGUE_H

#include <weir/plugin.h>

#define CATALOGUE_PROBLEM_SIZE 512

/* A behaviour that was found. Lives as long as the catalogue says; outlives the settings. */
struct catalogue_entry {
    const struct weir_behaviour *behaviour; /* its tables are in this build's layout */
    const char *plugin;
    const char *version;
    uint32_t generation;   /* of the plugin, counted by its name */
    uint64_t content_hash; /* of the plugin's file */
};

/* Why one was not found: one sentence. */
struct catalogue_problem {
    char text[CATALOGUE_PROBLEM_SIZE];
};

struct catalogue {
    void *context;
    /* `use` is `plugin.behaviour`. Borrowed; NULL, and why, when there is none. */
    const struct catalogue_entry *(*find)(void *context, const char *use,
                                          struct catalogue_problem *why);
    /* Around each call of a behaviour's `check`, in the order of the file, for the args at `path`:
     * it may be called on 0; otherwise `why` says why not. NULL: always. */
    int (*begin_check)(void *context, const char *path, struct catalogue_problem *why);
    /* It has returned. NULL: nobody wants to know. */
    void (*end_check)(void *context);
};

#endif
