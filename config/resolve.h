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

/* As resolve_use, from `manager` and `manager_args`; out->use stays NULL without a manager. */
int resolve_manager(struct checking *checking, const struct resolve_place *place,
                    struct settings_use *out);

#endif
