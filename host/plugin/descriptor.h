/* SPDX-License-Identifier: MIT */
/*
 * plugin/descriptor.h - reads and checks a plugin's constant, and copies it into this build's
 * structs.
 *
 * A plugin may have been built with an older SDK with shorter rows. Rows are copied by the plugin's
 * strides; fields that its SDK did not have are zero (a NULL callback, a false flag). So the rest
 * of the host does not depend on the plugin's SDK.
 *
 * The names, tables and callbacks that rows point to belong to the plugin: see loader.h for how
 * long.
 */
#ifndef HOST_PLUGIN_DESCRIPTOR_H
#define HOST_PLUGIN_DESCRIPTOR_H

#include <weir/plugin.h>

#include "host/plugin/problem.h"

#define DESCRIPTOR_BEHAVIOURS_MAX 64 /* a longer table probably lacks its row of zeros */
#define DESCRIPTOR_OPTIONS_MAX 256   /* as above */
#define DESCRIPTOR_OUTPUTS_MAX 64    /* as above */
#define DESCRIPTOR_NAME_MAX 63       /* bytes of a plugin's or behaviour's name */
/* larger states belong into allocations */
#define DESCRIPTOR_STATE_MAX ((uint32_t)64 * 1024 * 1024)

/* The accepted sizes: from those of SDK 1.0 up to those of this build. */
struct descriptor_abi {
    uint32_t minor;
    uint32_t plugin_min, plugin_max;
    uint32_t behaviour_min, behaviour_max;
    uint32_t option_min, option_max;
    uint32_t output_min, output_max;
};

/* The sizes of this build. A parameter, so that tests can use sizes between two versions. */
struct descriptor_abi descriptor_abi(void);

/* A plugin's tables in this build's layout. */
struct descriptor {
    const char *name;
    const char *version;
    uint32_t abi_minor;
    uint32_t flags;                    /* WEIR_UNLOADABLE */
    struct weir_behaviour *behaviours; /* owned; its options and outputs, too; ends with zeros */
    size_t behaviour_count;
};

/*
 * Reads `plugin` from memory. The problem's sentence begins with `file`, whose base name must be
 * the plugin's name. WEIR_EUNSUPPORTED another version; WEIR_EINVALID a wrong table; WEIR_ENOMEM.
 */
int descriptor_read(const struct weir_plugin *plugin, const struct descriptor_abi *abi,
                    const char *file, struct descriptor *out, struct problem *problem);
/* Frees what descriptor_read made. */
void descriptor_finish(struct descriptor *descriptor);

/* Finds a behaviour, borrowed; NULL when there is none, with a guess in `problem`. */
const struct weir_behaviour *descriptor_find(const struct descriptor *descriptor, const char *name,
                                             struct problem *problem);

#endif
