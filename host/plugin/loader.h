/*
 * plugin/loader.h - loads plugins and keeps their generations.
 *
 * A plugin's file is copied to a private directory and the copy is opened, so that the file may be
 * replaced while its code runs. The same content is the same generation, whatever its file is
 * called or when it was written; other content under the same name is the next generation, beside
 * the earlier ones. The copy loses its name as soon as it is mapped. A generation that nobody uses
 * is unloaded when the plugin says that it can be (WEIR_UNLOADABLE); any other stays mapped.
 *
 * Life: loader_create .. loader_destroy. Not synchronised: one thread at a time (the reload actor,
 * or a command). Any thread may leave.
 */
#ifndef HOST_PLUGIN_LOADER_H
#define HOST_PLUGIN_LOADER_H

#include "host/plugin/descriptor.h"
#include "host/plugin/plugin_path.h"

/* One generation of a plugin. Borrowed until it is unloaded. */
struct loaded {
    struct descriptor descriptor; /* in this build's layout */
    const char *file;             /* from which it was copied first */
    const char *copy;             /* that another process can open: from loader_lend on */
    _Atomic uint32_t *users;      /* counts users beyond a round of the catalogue */
    uint32_t generation;          /* 1, 2, ... of plugins of this name */
    uint64_t hash;                /* of the content */
    uint64_t size;                /* of the file, in bytes */
};

struct loader;

/*
 * Returns owned through out_loader. Makes the private directory at the first load. `program` is
 * what loads new content first, see plugin/probe.h (borrowed until loader_destroy); NULL: nothing
 * does. WEIR_ENOMEM.
 */
int loader_create(const char *program, struct loader **out_loader);
/*
 * Removes the private directory. No code of a plugin may run any more, and nothing that was
 * borrowed may be used. NULL is allowed.
 */
void loader_destroy(struct loader *loader);
/*
 * Removes the private directory and nothing else, just before `_exit`: code of a plugin may still
 * run, and another thread may be loading one. What was loaded stays valid, and no directory is
 * made.
 */
void loader_leave(struct loader *loader);

/*
 * Loads the plugin in `file`, or finds that it is loaded: a file that did not change since (by
 * device, inode, size and time of change) is not even read. Negative, and one sentence that begins
 * with the file's name: WEIR_EUNKNOWN no such file; WEIR_EUNSUPPORTED no plugin, or one for another
 * host; WEIR_EINVALID wrong tables; WEIR_ENOTALLOWED being written, no private directory, or others
 * than root may write to it and we are root;
 * WEIR_ENOMEM. Content that is new is loaded in a process of its own first, which takes some
 * milliseconds, and PROBE_TIMEOUT_MS when it does not return.
 */
int loader_load_file(struct loader *loader, const char *file, const struct loaded **out_loaded,
                     struct problem *problem);

/*
 * Copies the plugin's file once more, for a process that is to try what it does: `loaded->copy` is
 * its path until loader_take_back. WEIR_ENOTALLOWED: the file is another one by now; or as
 * loader_load_file.
 */
int loader_lend(struct loader *loader, const struct loaded *loaded, struct problem *problem);
/* Removes all copies that were lent. */
void loader_take_back(struct loader *loader);

/* One that is to be unloaded now; NULL: there is none. */
const struct loaded *loader_find_unused(struct loader *loader);
/* Unloads it. Nothing that was borrowed of it may be used any more. */
void loader_unload(struct loader *loader, const struct loaded *loaded);
/* How many stay mapped though nobody uses them. */
uint32_t loader_kept(const struct loader *loader);

/*
 * Opens the copy of a plugin and reads its tables as loader_load_file would, for a process that is
 * to find out what comes of it. `file` is what it was copied from. Never closed; the tables are the
 * caller's (descriptor_finish).
 */
int loader_open(const char *copy, const char *file, struct descriptor *out,
                struct problem *problem);
/* The same, and keeps no tables; `opened` is called before they are read. */
int loader_try(const char *copy, const char *file, void (*opened)(void), struct problem *problem);

/* As loader_load_file, for a bare name looked up in `path`. WEIR_EUNKNOWN it is nowhere there. */
int loader_load_name(struct loader *loader, struct plugin_path *path, const char *name,
                     const struct loaded **out_loaded, struct problem *problem);

#endif
