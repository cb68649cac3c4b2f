/*
 * config/checking.h - one check under way: what its parts share.
 *
 * The parts run one after the other: dispatchers, pools, sources, then what leads from one to
 * another. Each reports all it finds; only missing memory ends a check early. Not synchronised.
 */
#ifndef CONFIG_CHECKING_H
#define CONFIG_CHECKING_H

#include "config/catalogue.h"
#include "config/fill.h"
#include "config/key_index.h"
#include "config/settings.h"

/* Where a pool was described; further copies of a template share it. */
struct checking_pool {
    const struct config_node *node;
    const char *path; /* `pools.images.members.small` */
    struct mark mark; /* of its key */
    uint32_t first;   /* of a copy: the index of a pool that says the same */
};

/* The calls of behaviours' `check` that are to come: see asking.h. */
struct asking {
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
    struct checking_pool *pools; /* owned; beside settings->pools */
    uint32_t pool_capacity;      /* of both */
    struct key_index names;      /* what the functions below put and find */
    struct text_store scratch;   /* gone when the check is over */
    struct written_file file;    /* whose name was kept last */
    struct asking asking;
    bool wrong; /* a mistake was reported */
};

/*
 * Indexes by name, by path, and of a template's first copy; SETTINGS_NONE when there is none such.
 * They cost the same however many there are. WEIR_ENOMEM.
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

/* How the parts fill structs of the settings. A NULL report keeps silent. */
struct fill checking_fill(struct checking *checking, struct report *report);

/* True while there is something to look for: memory, and not errors enough. */
bool checking_goes_on(const struct checking *checking, int status);

/* Notes where a part of the settings is written, see written.h. WEIR_ENOMEM. */
int checking_written(struct checking *checking, const char *path, const struct mark *mark,
                     const struct config_node *map, struct written *out);

/* Notes that a part went wrong; answers WEIR_ENOMEM for that, WEIR_OK to go on otherwise. */
int checking_note(struct checking *checking, int status);

#endif
