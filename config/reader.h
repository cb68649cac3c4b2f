/*
 * config/reader.h - reads a YAML file into a tree in which every key and value knows its place.
 *
 * Reading has three steps: libyaml's events become a tree, under limits that no file can get round;
 * `${...}` is replaced in its values; the files of `include` are added. What the keys mean is the
 * business of config/check.h.
 *
 * The caller that read a `struct config_tree` owns it; it does not change after that.
 */
#ifndef CONFIG_READER_H
#define CONFIG_READER_H

#include "base/report.h"
#include "config/files.h"
#include "config/tree.h"

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

/*
 * Reads `file` with everything it includes. `source` may be NULL. 0, or WEIR_EINVALID after a
 * report of what is wrong, WEIR_EUNKNOWN when the file cannot be opened (reported, too),
 * WEIR_ENOMEM. Returns owned.
 */
int config_read_file(const char *file, const struct config_source *source, struct report *report,
                     struct config_tree **out_tree);

/* As config_read_file, but reads a text in place of the file `name`. */
int config_read_text(const char *name, const char *text, size_t size,
                     const struct config_source *source, struct report *report,
                     struct config_tree **out_tree);

#endif
