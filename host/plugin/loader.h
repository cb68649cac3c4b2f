/* SPDX-License-Identifier: MIT */
/*
 * plugin/loader.h - loads plugins and keeps their generations.
 *
 * A plugin's file is copied to a private directory and the copy is opened, so that the file may be
 * replaced while its code runs. A generation is one content: a file's name or time does not matter.
 * Other content under the same name is the next generation, beside the earlier ones. The copy loses
 * its name as soon as it is mapped. An unused generation is unloaded when the plugin allows it
 * (WEIR_UNLOADABLE); any other stays mapped.
 *
 * Life: loader_create .. loader_destroy. Not synchronised: one thread at a time (the reload actor,
 * or a command). loader_leave: any thread.
 */
#ifndef HOST_PLUGIN_LOADER_H
#define HOST_PLUGIN_LOADER_H

#include "host/plugin/descriptor.h"
#include "host/plugin/plugin_path.h"

/* One generation of a plugin. Borrowed until it is unloaded. */
struct loaded {
    struct descriptor descriptor; /* in this build's layout */
    const char *file;             /* the source of the first copy */
    const char *copy;             /* a copy that another process can open, after loader_lend */
    _Atomic uint32_t *users;      /* counts users beyond a round of the catalogue */
    uint32_t generation;          /* 1, 2, ... of plugins of this name */
    uint64_t hash;                /* of the content */
    uint64_t size;                /* of the file, in bytes */
    int image;                    /* descriptor of a copy, after loader_keep_image; -1 = none */
};

struct loader;

/*
 * Returns owned through out_loader. The first load makes the private directory. `program` loads new
 * content first, see plugin/probe.h (borrowed until loader_destroy); NULL: no trial. WEIR_ENOMEM.
 */
int loader_create(const char *program, struct loader **out_loader);
/*
 * Before the first load: opens the files themselves and not copies of them, without a trial, so
 * that debuggers and profilers find them. A file may not be overwritten while it is open. A file
 * with other content is refused (WEIR_ENOTALLOWED) for as long as its former content is open.
 */
void loader_open_in_place(struct loader *loader);
/*
 * Removes the private directory. No code of a plugin runs any more, and all borrowed pointers are
 * invalid afterwards. NULL is allowed.
 */
void loader_destroy(struct loader *loader);
/*
 * Removes only the private directory, just before `_exit`: plugins may still run, and another
 * thread may be loading one. Loaded plugins stay valid, and no further directory is made.
 */
void loader_leave(struct loader *loader);

struct symbols;
/* The functions of loaded plugins. Borrowed until loader_destroy; NULL: memory was out. */
struct symbols *loader_symbols(const struct loader *loader);

/*
 * Loads the plugin in `file`, or finds it loaded: a file without a change (by device, inode, size
 * and time of change) is not read. A negative status comes with a sentence that begins with the
 * file's name: WEIR_EUNKNOWN no such file; WEIR_EUNSUPPORTED no plugin, or one for another host;
 * WEIR_EINVALID wrong tables; WEIR_ENOTALLOWED being written, no private directory, or others than
 * root may write to it and we are root; WEIR_ENOMEM. New content is first loaded in a separate
 * process, which takes some milliseconds, or PROBE_TIMEOUT_MS when it does not return.
 */
int loader_load_file(struct loader *loader, const char *file, const struct loaded **out_loaded,
                     struct problem *problem);

/*
 * Copies the plugin's file again, for a trial in another process: `loaded->copy` is its path until
 * loader_take_back. WEIR_ENOTALLOWED: the file has changed; or as loader_load_file.
 */
int loader_lend(struct loader *loader, const struct loaded *loaded, struct problem *problem);
/* Removes all copies made by loader_lend. */
void loader_take_back(struct loader *loader);

/*
 * Sets `loaded->image`, an open copy of the plugin's file for other processes, until it is
 * unloaded. Ends all loans. As loader_lend.
 */
int loader_keep_image(struct loader *loader, const struct loaded *loaded, struct problem *problem);

/* A generation that can be unloaded now; NULL: there is none. */
const struct loaded *loader_find_unused(struct loader *loader);
/* Unloads it. All pointers borrowed from it are invalid afterwards. */
void loader_unload(struct loader *loader, const struct loaded *loaded);
/* The number of unused generations that stay mapped. */
uint32_t loader_kept(const struct loader *loader);

/* As loader_load_file, for a name without a directory, looked up in `path`. WEIR_EUNKNOWN no
 * directory has it. */
int loader_load_name(struct loader *loader, struct plugin_path *path, const char *name,
                     const struct loaded **out_loaded, struct problem *problem);

#endif
