/* SPDX-License-Identifier: MIT */
/*
 * config/resolve.h - reads `use`, `args` and `dispatcher`: the behaviour, its options, its threads.
 *
 * Pools and sources both have them. Not synchronised.
 */
#ifndef CONFIG_RESOLVE_H
#define CONFIG_RESOLVE_H

#include "config/checking.h"

enum resolve_role {
    RESOLVE_WORKER,
    RESOLVE_SOURCE,
};

/* The map that has these keys. */
struct resolve_place {
    const struct config_node *node; /* the map of the pool or source */
    const char *path;               /* its path */
    enum resolve_role role;
    struct report *report; /* NULL is silent */
    bool waits;            /* its callbacks wait for a process */
};

/*
 * Fills `out` from `use`, `args` and `dispatcher` of the place. The settings own `out->options`.
 * Adds the dispatcher `blocking` when a behaviour needs it. WEIR_EINVALID after a report,
 * WEIR_ENOMEM.
 */
int resolve_use(struct checking *checking, const struct resolve_place *place,
                struct settings_use *out);

/* As resolve_use, from `manager` and `manager_args`; out->use stays NULL without a manager. */
int resolve_manager(struct checking *checking, const struct resolve_place *place,
                    struct settings_use *out);

#endif
