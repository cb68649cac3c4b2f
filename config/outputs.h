/*
 * config/outputs.h - where messages go: targets of sources and of the outputs of pools.
 *
 * Runs when every pool is known.
 */
#ifndef CONFIG_OUTPUTS_H
#define CONFIG_OUTPUTS_H

#include "config/checking.h"

/*
 * The pool that `node` names, reported at `path` when there is none. WEIR_EINVALID; a NULL report
 * keeps silent.
 */
int outputs_target(const struct checking *checking, const struct config_node *node,
                   const char *path, struct report *report, uint32_t *out_pool);

/* Finds the pool whose path is `name`, which is written at `mark`. */
int outputs_find(const struct checking *checking, const char *name, const struct mark *mark,
                 const char *path, struct report *report, uint32_t *out_pool);

/* Binds the outputs of all pools of workers. Mistakes are noted in `checking`; WEIR_ENOMEM. */
int outputs_bind(struct checking *checking);

#endif
