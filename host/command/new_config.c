/* SPDX-License-Identifier: MIT */
#include "host/command/new_config.h"

#include <errno.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "host/plugin/loader.h"
#include "host/plugin/sketch.h"

/* The parsed arguments, and the behaviours by these names. */
struct chain {
    const struct invocation *invocation;
    struct plugin_path *path;
    size_t given; /* of its folders: by the user */
    struct loader *loader;
    struct sketch_part parts[SKETCH_PARTS_MAX];
    size_t count;
};

static int refuse(const struct chain *chain, int code, const char *subject, const char *reason)
{
    fprintf(chain->invocation->err, "weir new: %s%s%s\n", subject, subject[0] ? ": " : "", reason);
    return code;
}

static int find_behaviour(struct chain *chain, const char *name)
{
    const char *dot = strchr(name, '.');
    const struct weir_behaviour *found;
    const struct loaded *loaded;
    struct problem problem;
    char plugin[DESCRIPTOR_NAME_MAX + 1];
    int status;

    if (!dot || (size_t)(dot - name) >= sizeof plugin)
        return refuse(chain, EX_USAGE, name,
                      "not PLUGIN.BEHAVIOUR, such as `exec.run`; `weir describe PLUGIN` has the "
                      "behaviours of a plugin");
    (void)snprintf(plugin, sizeof plugin, "%.*s", (int)(dot - name), name);
    status = loader_load_name(chain->loader, chain->path, plugin, &loaded, &problem);
    if (status != WEIR_OK)
        return refuse(chain, status == WEIR_EUNKNOWN ? EX_NOINPUT : EX_CONFIG, "", problem.text);
    found = descriptor_find(&loaded->descriptor, dot + 1, &problem);
    if (!found)
        return refuse(chain, EX_NOINPUT, "", problem.text);
    chain->parts[chain->count++] = (struct sketch_part){ name, found };
    return EX_OK;
}

static int find_all(struct chain *chain, char *const *names, size_t count)
{
    const char *reason;
    size_t wrong;

    if (count > SKETCH_PARTS_MAX)
        return refuse(chain, EX_USAGE, "", "more than 16 behaviours");
    for (size_t i = 0; i < count; i++) {
        int code = find_behaviour(chain, names[i]);

        if (code != EX_OK)
            return code;
    }
    reason = sketch_refuses(chain->parts, chain->count, &wrong);
    return reason ? refuse(chain, EX_USAGE, names[wrong], reason) : EX_OK;
}

static int write_file(const struct chain *chain, const char *name)
{
    const struct sketch sketch = { .name = name,
                                   .folders = chain->path->directories,
                                   .folder_count = chain->given,
                                   .parts = chain->parts,
                                   .count = chain->count };
    FILE *file = fopen(name, "wxe");
    bool failed;

    if (!file)
        return refuse(chain, EX_CANTCREAT, name,
                      errno == EEXIST ? "is there already; nothing was changed" : strerror(errno));
    sketch_write(file, &sketch);
    failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        int code = refuse(chain, EX_IOERR, name, strerror(errno));

        (void)unlink(name);
        return code;
    }
    fprintf(chain->invocation->out,
            "%s: made. Next:\n%s"
            "  weir check %s\n"
            "  weir run %s\n",
            name,
            sketch_has_marks(chain->parts, chain->count) ? "  change what is marked `change this`\n"
                                                         : "",
            name, name);
    return EX_OK;
}

int new_config(const struct invocation *invocation, struct plugin_path *path, size_t given,
               const char *file, char *const *names, size_t count)
{
    struct chain chain = { .invocation = invocation, .path = path, .given = given };
    int code;

    if (loader_create(invocation->program, &chain.loader) != WEIR_OK)
        return EX_SOFTWARE;
    code = find_all(&chain, names, count);
    if (code == EX_OK)
        code = write_file(&chain, file);
    loader_destroy(chain.loader);
    return code;
}
