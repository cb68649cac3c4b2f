/*
 * config/written.h - where a part of the settings is written: for what is said of it after the
 * check, when the tree is gone.
 *
 * Filled while a file is checked, constant afterwards; everything in it lives in a text store.
 */
#ifndef CONFIG_WRITTEN_H
#define CONFIG_WRITTEN_H

#include "config/tree.h"

/* A key of a map. */
struct written_key {
    const char *name;
    struct mark mark; /* of its value */
};

/* A map of the file: a pool, a source, a dispatcher, `host`. */
struct written {
    const char *path; /* as in messages about it: `pools.images.members.small` */
    struct mark mark; /* of its key, or of what stands for it when it is not in the file */
    uint32_t key_count;
    const struct written_key *keys;
};

/* The last file's name that was kept: most maps of one file come one after the other. */
struct written_file {
    const char *in_tree; /* whose copy this is; compared, never read */
    const char *kept;
};

/*
 * Notes where a map is written; `map` may be NULL or no map: it has no keys then. Copies into
 * `store`. Begin with a zeroed `file` for each store. WEIR_ENOMEM.
 */
int written_note(struct text_store *store, struct written_file *file, const char *path,
                 const struct mark *mark, const struct config_node *map, struct written *out);

/* The place of `field`, such as `log.level`: of its own key, or of the whole when that is not in
 * the file. NULL = of the whole. */
const struct mark *written_mark(const struct written *written, const char *field);

/* Adds an error at the place of `field` (may be NULL), under its path. */
WEIR_PRINTF(4, 5)
void written_report(const struct written *written, const char *field, struct report *report,
                    const char *format, ...);

#endif
