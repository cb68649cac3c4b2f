/* SPDX-License-Identifier: MIT */
/*
 * plugin/symbols.h - the names of the functions of loaded plugins, for stacks in the log.
 *
 * A plugin hides its functions from the dynamic linker, so dladdr does not know them, and its copy
 * is gone when a stack is logged. So the table of symbols is read when the plugin is loaded. A
 * plugin that was stripped has none: then an address is named by the plugin's file alone.
 *
 * Life: symbols_create .. symbols_destroy. symbols_add and symbols_forget: one thread at a time.
 * symbols_find: any thread.
 */
#ifndef HOST_PLUGIN_SYMBOLS_H
#define HOST_PLUGIN_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct symbols;

/* NULL: memory is out. */
struct symbols *symbols_create(void);
/* NULL is allowed, here and below. */
void symbols_destroy(struct symbols *symbols);

/* Reads the functions of the shared object at `path`, which is mapped at `base` and a copy of
 * `file`. Without memory, or for a file that is damaged, it has none. */
void symbols_add(struct symbols *symbols, const char *path, const char *file, const void *base);
/* Before the object is unmapped. */
void symbols_forget(struct symbols *symbols, const void *base);

/* Writes `function (plugin.so+0x1234)`, or without the function, cut at `size`. False: no such
 * object is known. */
bool symbols_find(struct symbols *symbols, const void *base, const void *address, char *out,
                  size_t size);

#endif
