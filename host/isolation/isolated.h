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

#include "host/isolation/sandbox.h"

struct isolated_options {
    const struct weir_behaviour *behaviour; /* the plugin's */
    const void *settings;                   /* the plugin's; NULL: none */
    const char *plugin;                     /* its name */
    const char *version;
    uint32_t generation; /* of the plugin */
    uint32_t log_format; /* enum log_format, of what the process itself writes */
    const char *file;    /* of the plugin, for messages */
    int image;           /* descriptor of that file, or of its copy; borrowed */
    uint64_t timeout_ms; /* of a callback; 0 = none */
    uint64_t memory;     /* bytes of a process; 0 = no bound */
    uint32_t files;      /* descriptors of a process; 0 = as the host */
    uint32_t window;     /* messages of a process at a time: 1 to 64 */
    struct sandbox sandbox;
    uint64_t open_timeout_ms;  /* of `open`, if it is shorter; 0 = none */
    uint64_t close_timeout_ms; /* of `close`, likewise */
};

struct isolated;

/* Borrows everything until isolated_destroy. NULL: memory is out. Returns owned. */
struct isolated *isolated_create(const struct isolated_options *options);
/* NULL is allowed. */
void isolated_destroy(struct isolated *isolated);

/* The behaviour that stands in, and its settings. */
const struct weir_behaviour *isolated_behaviour(const struct isolated *isolated);
const void *isolated_settings(const struct isolated *isolated);

#endif
