/* SPDX-License-Identifier: MIT */
#include "host/plugin/shared_object.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define FOREIGN_MAJOR_MAX 9 /* other SDK versions that are looked for, for a better message */

/* Reports the host that a file without weir_plugin_v1 was built for. */
static int report_foreign(void *handle, const char *file, struct problem *problem)
{
    for (int major = WEIR_ABI_MAJOR + 1; major <= FOREIGN_MAJOR_MAX; major++) {
        char symbol[32];

        (void)snprintf(symbol, sizeof symbol, "weir_plugin_v%d", major);
        if (dlsym(handle, symbol))
            return problem_set(problem, WEIR_EUNSUPPORTED,
                               "%s: is built for SDK %d, this host speaks %d; rebuild the plugin "
                               "or upgrade the host",
                               file, major, WEIR_ABI_MAJOR);
    }
    return problem_set(problem, WEIR_EUNSUPPORTED,
                       "%s: is no plugin: it does not export %s (WEIR_PLUGIN stands at the end of "
                       "a plugin)",
                       file, WEIR_PLUGIN_SYMBOL);
}

/* Removes the name of our copy from dlopen's message. */
static const char *without_copy(const char *words, const char *copy)
{
    size_t length = strlen(copy);

    return strncmp(words, copy, length) == 0 && strncmp(words + length, ": ", 2) == 0
               ? words + length + 2
               : words;
}

int shared_object_open(const char *copy, const char *file, void **out_handle,
                       struct problem *problem)
{
    const char *words;

    *out_handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    if (*out_handle)
        return WEIR_OK;
    words = dlerror();
    return problem_set(problem, WEIR_EUNSUPPORTED, "%s: cannot be loaded: %s", file,
                       words ? without_copy(words, copy) : "no reason was given");
}

const void *shared_object_base(void *handle)
{
    const void *plugin = dlsym(handle, WEIR_PLUGIN_SYMBOL);
    Dl_info info;

    return plugin && dladdr(plugin, &info) ? info.dli_fbase : NULL;
}

int shared_object_read(void *handle, const char *file, struct descriptor *out,
                       struct problem *problem)
{
    const struct descriptor_abi abi = descriptor_abi();
    const struct weir_plugin *plugin = dlsym(handle, WEIR_PLUGIN_SYMBOL);

    if (!plugin)
        return report_foreign(handle, file, problem);
    return descriptor_read(plugin, &abi, file, out, problem);
}

int shared_object_look(const char *copy, const char *file, struct descriptor *out,
                       struct problem *problem)
{
    void *handle;
    int status = shared_object_open(copy, file, &handle, problem);

    return status == WEIR_OK ? shared_object_read(handle, file, out, problem) : status;
}

int shared_object_try(const char *copy, const char *file, void (*opened)(void),
                      struct problem *problem)
{
    struct descriptor descriptor;
    void *handle;
    int status = shared_object_open(copy, file, &handle, problem);

    opened();
    if (status == WEIR_OK)
        status = shared_object_read(handle, file, &descriptor, problem);
    if (status == WEIR_OK)
        descriptor_finish(&descriptor);
    return status;
}

bool shared_object_close(void *handle)
{
    struct link_map *map = NULL;
    char name[PATH_MAX];
    void *again;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    (void)snprintf(name, sizeof name, "%s", map->l_name);
    (void)dlclose(handle);
    again = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (again)
        (void)dlclose(again);
    return !again;
}
