/* SPDX-License-Identifier: MIT */
/*
 * config/source.h - the input of the reader: the text, variables and files, and its limits.
 */
#ifndef CONFIG_SOURCE_H
#define CONFIG_SOURCE_H

#include <stdint.h>

#include "config/files.h"

/* The limits of a file, so that no file can exhaust memory. */
struct config_limits {
    size_t bytes;   /* of all files, and of all texts, aliases written out; 0 = 8 MiB */
    uint32_t depth; /* of nesting; 0 = 64 */
    uint32_t nodes; /* of all files, aliases counted as if written out; 0 = 500,000 */
    uint32_t text;  /* bytes of one key or value; 0 = 1 MiB */
};

/* How reading gets at variables and files; all zeros = the process's environment, the usual
 * limits. */
struct config_source {
    /* The value of ${NAME}, NULL when it is not set. Borrowed until the next call. */
    const char *(*variable)(void *context, const char *name);
    void *context;
    struct config_limits limits;
    /* gets the files that are read, also when they are wrong; may be NULL */
    struct config_files *files;
    /* The caller gives the tree to config_check. Mistakes that leave a tree, such as a key that is
     * set twice, are reported and set the tree's `wrong`; the check finds further mistakes and
     * refuses the tree. */
    bool is_checked_next;
    /* The text is the value of a key inside a file, such as `args`: without keys it is an empty
     * map, and `include` is a key like any other. */
    bool is_part;
};

/* One text to read. All pointers are borrowed while it is read. */
struct config_text {
    const char *name;  /* of the file; the marks keep it, so it lives as long as the tree */
    const char *bytes; /* UTF-8 without NUL, checked */
    size_t size;
    bool is_part; /* see struct config_source */
};

#endif
