/* SPDX-License-Identifier: MIT */
/*
 * config/isolation.h - which pools may have `isolation: process`, and what their
 * processes may do.
 */
#ifndef CONFIG_ISOLATION_H
#define CONFIG_ISOLATION_H

#include "config/settings.h"
#include "config/tree.h"

/* Notes which keys of `process` are there. `node`: of the pool. */
void isolation_note(const struct config_node *node, struct settings_pool *pool);

bool isolation_has_same_sandbox(const struct settings_sandbox *one,
                                const struct settings_sandbox *other);
/* For people: `off`, or what it allows. */
void isolation_describe_sandbox(const struct settings_sandbox *sandbox, char *text, size_t size);

/* Why workers of the behaviour cannot be processes, as a clause after its name; NULL: they can.
 * Static. */
const char *isolation_refuses_behaviour(const struct weir_behaviour *behaviour);

/* Why the pool cannot have isolated workers, as a sentence without its subject; NULL: it can.
 * Written to `text` when it names the behaviour. */
const char *isolation_refuses(const struct settings_pool *pool, char *text, size_t size);

#endif
