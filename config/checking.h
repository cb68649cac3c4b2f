/* SPDX-License-Identifier: MIT */
/*
 * config/checking.h - the state that the parts of one check share.
 *
 * The parts run in sequence: dispatchers, pools, sources, then the references between them. Each
 * part reports every mistake that it finds; only WEIR_ENOMEM ends a check early. Not synchronised.
 */
#ifndef CONFIG_CHECKING_H
#define CONFIG_CHECKING_H

#include "config/catalogue.h"
#include "config/fill.h"
#include "config/key_index.h"
#include "config/settings.h"

/* The place of a pool's description; all copies of a template have the same. */
struct checking_pool {
    const struct config_node *node;
    const char *path; /* `pools.images.members.small` */
    struct mark mark; /* of its key */
    uint32_t first;   /* of a copy: the index of the first copy of its template */
    bool is_asked;    /* an option of kind pool names it */
};

/* The calls of behaviours' `check` that are not made yet: deferred_checks.h. */
struct deferred_checks {
    struct catalogue_check *calls; /* owned */
    size_t count;
    size_t capacity;
};

struct checking {
    const struct config_node *root;
    const struct catalogue *catalogue;
    uint32_t cpus;
    struct report *report;
    struct settings *settings;   /* grows */
    struct checking_pool *pools; /* owned; the same indexes as settings->pools */
    uint32_t pool_capacity;      /* of both */
    struct key_index names;    /* of the functions checking_index_… and checking_find_… below */
    struct text_store scratch; /* freed when the check is over */
    struct written_file file;  /* the file whose name was copied last */
    struct deferred_checks deferred;
    bool wrong; /* a mistake was reported */
};

/*
 * Look up an index by name, by path, or by a template's first copy; SETTINGS_NONE when there is
 * none. The cost does not depend on their number. WEIR_ENOMEM.
 */
int checking_index_dispatcher(struct checking *checking, const char *name, uint32_t index);
uint32_t checking_find_dispatcher(const struct checking *checking, const char *name);
int checking_index_pool(struct checking *checking, const char *path, uint32_t index);
uint32_t checking_find_pool(const struct checking *checking, const char *path);
int checking_index_template(struct checking *checking, const struct config_node *node,
                            uint32_t index);
uint32_t checking_find_template(const struct checking *checking, const struct config_node *node);

/* Formats a text that lives until the check is over; NULL when memory is out. */
#define checking_text(checking, ...) text_store_format(&(checking)->scratch, __VA_ARGS__)

/* The context for filling structs of the settings. A NULL report is silent. */
struct fill checking_fill(struct checking *checking, struct report *report);

/* True while the check should go on: memory is left, and the report is not full. */
bool checking_goes_on(const struct checking *checking, int status);

/* Records where a part of the settings is written, see written.h. WEIR_ENOMEM. */
int checking_written(struct checking *checking, const char *path, const struct mark *mark,
                     const struct config_node *map, struct written *out);

/* Records the failure of a part. WEIR_ENOMEM ends the check; for other failures the result is
 * WEIR_OK, and the check goes on. */
int checking_note(struct checking *checking, int status);

#endif
