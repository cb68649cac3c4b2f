/*
 * config/resolve.h - `use`, `args` and `dispatcher`: which behaviour, with what, on whose threads.
 *
 * Both pools and sources have them. Not synchronised.
 */
#ifndef CONFIG_RESOLVE_H
#define CONFIG_RESOLVE_H

#include "config/checking.h"

enum resolve_role {
    RESOLVE_WORKER,
    RESOLVE_SOURCE,
};

/* Where it is asked for. */
struct resolve_place {
    const struct config_node *node; /* the map of the pool or source */
    const char *path;               /* its path */
    enum resolve_role role;
    struct report *report; /* NULL keeps silent */
};

/*
 * Fills `out` from `use`, `args` and `dispatcher` of the place. `out->options` is owned by the
 * settings then. The dispatcher `blocking` is added when a behaviour needs it. WEIR_EINVALID after
 * a report, WEIR_ENOMEM.
 */
int resolve_use(struct checking *checking, const struct resolve_place *place,
                struct settings_use *out);

/* The behaviour alone, of `key` of the place; NULL through out_entry when the key is absent. */
int resolve_behaviour(struct checking *checking, const struct resolve_place *place, const char *key,
                      const char **out_use, const struct catalogue_entry **out_entry);

#endif
