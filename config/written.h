/* SPDX-License-Identifier: MIT */
/*
 * config/written.h - keeps where a part of the settings is written, for messages after the check,
 * when the tree is gone.
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
    struct mark mark; /* of its key; of the section when the file does not have it */
    uint32_t key_count;
    const struct written_key *keys;
};

/* The name of the last file that was copied: maps of one file mostly follow each other. */
struct written_file {
    const char *in_tree; /* the original of the copy; compared, never read */
    const char *kept;
};

/*
 * Records where a map is written. `map` may be NULL or no map; then it has no keys. Copies into
 * `store`. Begin with a zeroed `file` for each store. WEIR_ENOMEM.
 */
int written_note(struct text_store *store, struct written_file *file, const char *path,
                 const struct mark *mark, const struct config_node *map, struct written *out);

/* The position of `field`, such as `log.level`; the position of the whole map when the file does
 * not have that key, or for NULL. */
const struct mark *written_mark(const struct written *written, const char *field);

/* Adds an error with the path and the position of `field`, which may be NULL. */
WEIR_PRINTF(4, 5)
void written_report(const struct written *written, const char *field, struct report *report,
                    const char *format, ...);

#endif
