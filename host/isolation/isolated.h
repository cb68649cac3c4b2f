/* SPDX-License-Identifier: MIT */
/*
 * isolation/isolated.h - a behaviour whose workers are processes: it stands in for the behaviour of
 * a plugin, and passes each callback to a process that has loaded the plugin.
 *
 * It uses the public SDK alone: for core it is a behaviour that gathers its messages. A callback
 * waits until the process has carried it out, so it is WEIR_BLOCKING. When the process ends by
 * itself, the worker fails, as by WEIR_FAIL. window.h says what becomes of its messages.
 *
 * Life: isolated_create .. isolated_destroy. Constant, so any thread.
 */
#ifndef HOST_ISOLATION_ISOLATED_H
#define HOST_ISOLATION_ISOLATED_H

#include <weir/plugin.h>

#include "host/isolation/isolated_options.h"

struct isolated;

/* Borrows everything until isolated_destroy. NULL: memory is out. Returns owned. */
struct isolated *isolated_create(const struct isolated_options *options);
/* NULL is allowed. */
void isolated_destroy(struct isolated *isolated);

/* The behaviour that stands in, and its settings. */
const struct weir_behaviour *isolated_behaviour(const struct isolated *isolated);
const void *isolated_settings(const struct isolated *isolated);

#endif
