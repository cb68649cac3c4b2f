/* SPDX-License-Identifier: MIT */
/*
 * plugin/shared_object.h - opens the shared object of a plugin, reads its tables, and closes it.
 *
 * `file` is the file that `copy` is a copy of, for messages. On failure there is one sentence that
 * begins with its name.
 */
#ifndef HOST_PLUGIN_SHARED_OBJECT_H
#define HOST_PLUGIN_SHARED_OBJECT_H

#include <stdbool.h>

#include "host/plugin/descriptor.h"

/* WEIR_EUNSUPPORTED: the dynamic linker refuses it. */
int shared_object_open(const char *copy, const char *file, void **out_handle,
                       struct problem *problem);

/* Where it is mapped, as dladdr says; NULL: it is no plugin. */
const void *shared_object_base(void *handle);

/* Reads the tables into `out`, the caller's (descriptor_finish). WEIR_EUNSUPPORTED no plugin, or
 * one for another host; or as descriptor_read. */
int shared_object_read(void *handle, const char *file, struct descriptor *out,
                       struct problem *problem);

/* True when the plugin is unmapped. The dynamic linker may refuse, for example because of a symbol
 * that is unique in the process. */
bool shared_object_close(void *handle);

/*
 * Opens the copy of a plugin and reads its tables as loader_load_file does, in a process that only
 * tries it. `file` is the source of the copy. Never closed; the caller owns the tables
 * (descriptor_finish).
 */
int shared_object_look(const char *copy, const char *file, struct descriptor *out,
                       struct problem *problem);
/* As shared_object_look, but keeps no tables; calls `opened` before it reads them. */
int shared_object_try(const char *copy, const char *file, void (*opened)(void),
                      struct problem *problem);

#endif
