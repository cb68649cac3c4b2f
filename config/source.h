/*
 * config/source.h - what is read, by which way it reaches the world, and within which limits.
 */
#ifndef CONFIG_SOURCE_H
#define CONFIG_SOURCE_H

#include <stdint.h>

#include "config/files.h"

/* The limits of a file, so that no file can exhaust memory. */
struct config_limits {
    size_t bytes;   /* of all files, and of all texts, aliases written out; 0 = 8 MiB */
    uint32_t depth; /* of nesting; 0 = 64 */
    uint32_t nodes; /* of all files, aliases counted as if written out; 0 = 100,000 */
    uint32_t text;  /* bytes of one key or value; 0 = 1 MiB */
};

/* How reading reaches the world; all zeros = the process's environment, the usual limits. */
struct config_source {
    /* The value of ${NAME}, NULL when it is not set. Borrowed until the next call. */
    const char *(*variable)(void *context, const char *name);
    void *context;
    struct config_limits limits;
    struct config_files *files; /* gets what is read, also when it is wrong; may be NULL */
    /* The tree goes to config_check. Mistakes that leave a tree, such as a key that is set twice,
     * are reported and noted in the tree as `wrong`; the check finds the others and refuses all. */
    bool is_checked_next;
    /* The text is the value of a key inside a file, such as `args`: without keys it is an empty
     * map, and `include` is a key like any other. */
    bool is_part;
};

/* One text to read. All borrowed while it is read. */
struct config_text {
    const char *name;  /* of the file; kept by the marks: as long as the tree */
    const char *bytes; /* UTF-8 without NUL, checked */
    size_t size;
    bool is_part; /* see struct config_source */
};

#endif
