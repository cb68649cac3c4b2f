/*
 * plugin/descriptor.h - reads a plugin's constant into this build's own structs, and judges it.
 *
 * A plugin may have been built with an older SDK whose rows are shorter. Rows are copied by the
 * plugin's strides; what its SDK did not know yet is zero (a NULL callback, a false flag). After
 * this nobody needs to know which SDK a plugin was built with.
 *
 * The names, tables and callbacks that rows point to stay the plugin's: see loader.h for how long.
 */
#ifndef HOST_PLUGIN_DESCRIPTOR_H
#define HOST_PLUGIN_DESCRIPTOR_H

#include <weir/plugin.h>

#include "host/plugin/problem.h"

#define DESCRIPTOR_BEHAVIOURS_MAX 64 /* a table that goes on lacks its row of zeros */
#define DESCRIPTOR_OPTIONS_MAX 256   /* likewise */
#define DESCRIPTOR_OUTPUTS_MAX 64    /* likewise */
#define DESCRIPTOR_NAME_MAX 63       /* bytes of a plugin's or behaviour's name */
#define DESCRIPTOR_STATE_MAX ((uint32_t)64 * 1024 * 1024) /* more belongs into allocations */

/* The accepted sizes: from those of SDK 1.0 up to those of this build. */
struct descriptor_abi {
    uint32_t minor;
    uint32_t plugin_min, plugin_max;
    uint32_t behaviour_min, behaviour_max;
    uint32_t option_min, option_max;
    uint32_t output_min, output_max;
};

/* This build's. A parameter, so that tests can stand between two versions. */
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
 * Reads `plugin` as it lies in memory. `file` is named in the sentence, and its base name must be
 * the plugin's name. WEIR_EUNSUPPORTED another version; WEIR_EINVALID a table that is wrong;
 * WEIR_ENOMEM. Each with one sentence.
 */
int descriptor_read(const struct weir_plugin *plugin, const struct descriptor_abi *abi,
                    const char *file, struct descriptor *out, struct problem *problem);
/* Frees what descriptor_read made. */
void descriptor_finish(struct descriptor *descriptor);

/* The behaviour of that name, borrowed; NULL, and what may have been meant, when there is none. */
const struct weir_behaviour *descriptor_find(const struct descriptor *descriptor, const char *name,
                                             struct problem *problem);

#endif
