/* SPDX-License-Identifier: MIT */
/*
 * config/outputs.h - resolves the targets of sources and of the outputs of pools.
 *
 * Runs when every pool is known.
 */
#ifndef CONFIG_OUTPUTS_H
#define CONFIG_OUTPUTS_H

#include "config/checking.h"

/*
 * Resolves `node` to the index of the pool that it names. Reports a missing pool at `path`.
 * WEIR_EINVALID; a NULL report is silent.
 */
int outputs_target(const struct checking *checking, const struct config_node *node,
                   const char *path, struct report *report, uint32_t *out_pool);

/* Finds the pool whose path is `name`. The position of the name in the file is `mark`. */
int outputs_find(const struct checking *checking, const char *name, const struct mark *mark,
                 const char *path, struct report *report, uint32_t *out_pool);

/* Binds the outputs of all pools of workers. Records mistakes in `checking`; WEIR_ENOMEM. */
int outputs_bind(struct checking *checking);

#endif
