/* SPDX-License-Identifier: MIT */
/*
 * isolation/isolated_options.h - what a worker in a process of its own is made of.
 */
#ifndef HOST_ISOLATION_ISOLATED_OPTIONS_H
#define HOST_ISOLATION_ISOLATED_OPTIONS_H

#include <stdalign.h>

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

/* The plugin's settings stand at the end, so that core finds in them what the options name. */
struct isolated {
    struct isolated_options options;
    struct weir_behaviour behaviour;
    alignas(16) unsigned char settings[];
};

#endif
