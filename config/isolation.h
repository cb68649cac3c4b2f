/* SPDX-License-Identifier: MIT */
/*
 * config/isolation.h - which pools may have `isolation: process`.
 */
#ifndef CONFIG_ISOLATION_H
#define CONFIG_ISOLATION_H

#include "config/settings.h"

/* Why workers of the behaviour cannot be processes, as a clause after its name; NULL: they can.
 * Static. */
const char *isolation_refuses_behaviour(const struct weir_behaviour *behaviour);

/* Why the pool cannot have isolated workers, as a sentence without its subject; NULL: it can.
 * Written to `text` when it names the behaviour. */
const char *isolation_refuses(const struct settings_pool *pool, char *text, size_t size);

#endif
