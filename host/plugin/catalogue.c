/* SPDX-License-Identifier: MIT */
#include "host/plugin/catalogue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "host/plugin/probe.h"
#include "host/plugin/trial.h"

#define DIRECTORIES_MAX 64 /* of host.plugins; the language allows no more */

/* The result of a lookup in this round: a loaded plugin, or a problem. */
struct looked_up {
    struct looked_up *next;
    const struct loaded *loaded;
    struct problem problem;
    char name[DESCRIPTOR_NAME_MAX + 1];
};

/* A behaviour of one generation; kept for the settings that point at it. */
struct found {
    struct found *next;
    struct catalogue_entry entry;
    struct trial_behaviour trial;
};

struct plugin_catalogue {
    struct catalogue interface;
    struct loader *loader;
    struct plugin_path path;
    struct looked_up *looked_up;
    struct found *found;

    const char *program; /* the program that tries the checks; NULL: no trial */
    uint32_t checks;     /* begun in this round */
    struct probe_progress tried;
    struct problem ended; /* how the process ended, if not `whole` */

    struct config_files *files; /* NULL: nobody wants to know them */
};

static const struct catalogue_entry *find(void *context, const char *use,
                                          struct catalogue_problem *why);
static void begin_checks(void *context, const struct catalogue_check *checks, size_t count);
static int begin_check(void *context, struct catalogue_problem *why);

int catalogue_create(struct loader *loader, struct plugin_catalogue **out)
{
    struct plugin_catalogue *catalogue = calloc(1, sizeof *catalogue);

    if (!catalogue)
        return WEIR_ENOMEM;
    catalogue->interface = (struct catalogue){
        .context = catalogue,
        .find = find,
        .begin_checks = begin_checks,
        .begin_check = begin_check,
    };
    catalogue->loader = loader;
    plugin_path_init(&catalogue->path);
    *out = catalogue;
    return WEIR_OK;
}

static void forget_round(struct plugin_catalogue *catalogue)
{
    for (struct looked_up *looked_up = catalogue->looked_up, *next; looked_up; looked_up = next) {
        next = looked_up->next;
        free(looked_up);
    }
    catalogue->looked_up = NULL;
    catalogue->program = NULL;
    catalogue->files = NULL;
    catalogue->checks = 0;
    plugin_path_finish(&catalogue->path);
}

void catalogue_destroy(struct plugin_catalogue *catalogue)
{
    if (!catalogue)
        return;
    forget_round(catalogue);
    for (struct found *found = catalogue->found, *next; found; found = next) {
        next = found->next;
        free(found);
    }
    free(catalogue);
}

static void forget_entries(struct plugin_catalogue *catalogue, const struct loaded *loaded)
{
    struct found **link = &catalogue->found;

    while (*link) {
        struct found *found = *link;

        if (found->trial.loaded != loaded) {
            link = &found->next;
            continue;
        }
        *link = found->next;
        free(found);
    }
}

uint32_t catalogue_tidy(struct plugin_catalogue *catalogue)
{
    const struct loaded *loaded;

    forget_round(catalogue);
    while ((loaded = loader_find_unused(catalogue->loader))) {
        forget_entries(catalogue, loaded);
        loader_unload(catalogue->loader, loaded);
    }
    return loader_kept(catalogue->loader);
}

int catalogue_begin(struct plugin_catalogue *catalogue, const struct config_tree *tree)
{
    const char *directories[DIRECTORIES_MAX];
    size_t count = config_plugin_directories(tree, directories, DIRECTORIES_MAX);
    int status = WEIR_OK;

    (void)catalogue_tidy(catalogue);
    if (count > DIRECTORIES_MAX)
        count = DIRECTORIES_MAX;
    for (size_t i = 0; i < count && status == WEIR_OK; i++)
        status = plugin_path_add(&catalogue->path, directories[i]);
    return status == WEIR_OK ? plugin_path_add_defaults(&catalogue->path) : status;
}

const struct catalogue *catalogue_get(const struct plugin_catalogue *catalogue)
{
    return &catalogue->interface;
}

const char *catalogue_file(const struct plugin_catalogue *catalogue, size_t index)
{
    const struct looked_up *looked_up = catalogue->looked_up;

    while (looked_up && (!looked_up->loaded || index-- > 0))
        looked_up = looked_up->next;
    return looked_up ? looked_up->loaded->file : NULL;
}

void catalogue_note_files(struct plugin_catalogue *catalogue, struct config_files *files)
{
    catalogue->files = files;
}

/* Notes the file that was found, and those that would have been found before it: with none, all. */
static void note_places(const struct plugin_catalogue *catalogue, const char *name,
                        const char *found)
{
    bool is_over = !catalogue->files;

    for (size_t i = 0; i < catalogue->path.count && !is_over; i++) {
        char *file = plugin_path_file(&catalogue->path, i, name);

        if (!file)
            return;
        config_files_add(catalogue->files, file, false);
        is_over = found && strcmp(file, found) == 0;
        free(file);
    }
}

/* As loader_load_name. */
static int load(struct plugin_catalogue *catalogue, const char *name, struct looked_up *out)
{
    char *file = plugin_path_find(&catalogue->path, name, &out->problem);
    int status;

    note_places(catalogue, name, file);
    if (!file)
        return WEIR_EUNKNOWN;
    status = loader_load_file(catalogue->loader, file, &out->loaded, &out->problem);
    free(file);
    return status;
}

static struct looked_up *find_looked_up(struct plugin_catalogue *catalogue, const char *name)
{
    struct looked_up *looked_up = catalogue->looked_up;

    while (looked_up && strcmp(looked_up->name, name) != 0)
        looked_up = looked_up->next;
    return looked_up;
}

/* Looks up a plugin; NULL when memory is out. `name` is not too long. */
static struct looked_up *look_up(struct plugin_catalogue *catalogue, const char *name)
{
    struct looked_up *looked_up = find_looked_up(catalogue, name);

    if (looked_up)
        return looked_up;
    looked_up = calloc(1, sizeof *looked_up);
    if (!looked_up)
        return NULL;
    memcpy(looked_up->name, name, strlen(name) + 1);
    if (load(catalogue, name, looked_up) != WEIR_OK)
        looked_up->loaded = NULL;
    looked_up->next = catalogue->looked_up;
    catalogue->looked_up = looked_up;
    return looked_up;
}

/* The entry of a behaviour, created on first use. NULL when memory is out. */
static const struct catalogue_entry *entry_of(struct plugin_catalogue *catalogue,
                                              const struct loaded *loaded,
                                              const struct weir_behaviour *behaviour)
{
    struct found *found;

    for (found = catalogue->found; found; found = found->next) {
        if (found->entry.behaviour == behaviour)
            return &found->entry;
    }
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    found->entry = (struct catalogue_entry){
        .behaviour = behaviour,
        .plugin = loaded->descriptor.name,
        .version = loaded->descriptor.version,
        .generation = loaded->generation,
        .content_hash = loaded->hash,
        .file = loaded->file,
        .image = -1,
        .users = loaded->users,
    };
    found->trial = (struct trial_behaviour){ .loaded = loaded, .name = behaviour->name };
    found->next = catalogue->found;
    catalogue->found = found;
    return &found->entry;
}

/* Splits `plugin.behaviour`; false when `use` has another form. */
static bool split(const char *use, char *out_plugin, const char **out_behaviour)
{
    const char *dot = strchr(use, '.');
    size_t length = dot ? (size_t)(dot - use) : 0;

    if (length == 0 || length > DESCRIPTOR_NAME_MAX || !dot[1] || strchr(dot + 1, '.'))
        return false;
    memcpy(out_plugin, use, length);
    out_plugin[length] = '\0';
    *out_behaviour = dot + 1;
    return true;
}

/* Says what `use` must be; the name of a plugin alone gets the names of its behaviours. */
static void refuse_use(struct plugin_catalogue *catalogue, const char *use, struct problem *problem)
{
    const struct looked_up *looked_up = strlen(use) > DESCRIPTOR_NAME_MAX || strpbrk(use, "./")
                                            ? NULL
                                            : look_up(catalogue, use);
    char names[PROBLEM_SIZE] = "";
    size_t used = 0;

    for (size_t i = 0; looked_up && looked_up->loaded &&
                       i < looked_up->loaded->descriptor.behaviour_count && used < sizeof names;
         i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s %s.%s", i ? "," : "", use,
                                 looked_up->loaded->descriptor.behaviours[i].name);
    if (names[0])
        (void)problem_set(problem, WEIR_EINVALID,
                          "must be PLUGIN.BEHAVIOUR, got \"%.64s\"; that plugin has%.380s", use,
                          names);
    else
        (void)problem_set(problem, WEIR_EINVALID,
                          "must be PLUGIN.BEHAVIOUR, such as files.lines, got \"%.64s\"", use);
}

static const struct catalogue_entry *find_behaviour(struct plugin_catalogue *catalogue,
                                                    const char *use, struct problem *problem)
{
    char plugin[DESCRIPTOR_NAME_MAX + 1];
    const struct catalogue_entry *entry;
    const struct weir_behaviour *behaviour;
    const char *name;
    struct looked_up *looked_up;

    (void)problem_set(problem, WEIR_ENOMEM, "out of memory");
    if (!split(use, plugin, &name)) {
        refuse_use(catalogue, use, problem);
        return NULL;
    }
    looked_up = look_up(catalogue, plugin);
    if (!looked_up)
        return NULL;
    if (!looked_up->loaded) {
        *problem = looked_up->problem;
        return NULL;
    }
    behaviour = descriptor_find(&looked_up->loaded->descriptor, name, problem);
    entry = behaviour ? entry_of(catalogue, looked_up->loaded, behaviour) : NULL;
    return entry;
}

static const struct catalogue_entry *find(void *context, const char *use,
                                          struct catalogue_problem *why)
{
    struct problem problem = { "" };
    const struct catalogue_entry *entry = find_behaviour(context, use, &problem);

    _Static_assert(sizeof why->text >= sizeof problem.text, "a sentence of ours fits into theirs");
    if (!entry)
        memcpy(why->text, problem.text, strlen(problem.text) + 1);
    return entry;
}

int catalogue_keep_image(struct plugin_catalogue *catalogue, const struct catalogue_entry *entry,
                         struct problem *problem)
{
    struct found *found = LIST_ENTRY((uintptr_t)entry, struct found, entry);
    int status = loader_keep_image(catalogue->loader, found->trial.loaded, problem);

    if (status == WEIR_OK)
        found->entry.image = found->trial.loaded->image;
    return status;
}

/* --- what `check` may do ---------------------------------------------------------------------- */

void catalogue_try_checks(struct plugin_catalogue *catalogue, const char *program)
{
    catalogue->program = program;
}

/* The descriptor of the trial; -1 and errno. */
static int write_trial(struct plugin_catalogue *catalogue, const struct catalogue_check *checks,
                       size_t count)
{
    struct trial trial;

    for (struct found *found = catalogue->found; found; found = found->next)
        found->trial.number = UINT32_MAX;
    if (trial_begin(&trial) != WEIR_OK) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        struct found *found = LIST_ENTRY((uintptr_t)checks[i].entry, struct found, entry);

        trial_add(&trial, &found->trial, &checks[i]);
    }
    return trial_end(&trial);
}

static int lend_plugins(struct plugin_catalogue *catalogue, const struct catalogue_check *checks,
                        size_t count)
{
    int status = WEIR_OK;

    for (size_t i = 0; i < count && status == WEIR_OK; i++) {
        struct found *found = LIST_ENTRY((uintptr_t)checks[i].entry, struct found, entry);

        status = loader_lend(catalogue->loader, found->trial.loaded, &catalogue->ended);
    }
    return status;
}

static void try_checks(struct plugin_catalogue *catalogue, const struct catalogue_check *checks,
                       size_t count)
{
    int trial;

    if (lend_plugins(catalogue, checks, count) != WEIR_OK)
        return;
    trial = write_trial(catalogue, checks, count);
    if (trial < 0) {
        (void)problem_set(&catalogue->ended, WEIR_ENOMEM, "did not get the calls: %s",
                          strerror(errno));
        return;
    }
    (void)probe_checks(catalogue->program, trial, &catalogue->tried, &catalogue->ended);
    (void)close(trial);
}

static void begin_checks(void *context, const struct catalogue_check *checks, size_t count)
{
    struct plugin_catalogue *catalogue = context;

    catalogue->tried = (struct probe_progress){ 0 };
    if (!catalogue->program)
        return;
    try_checks(catalogue, checks, count);
    loader_take_back(catalogue->loader);
}

/* Writes why the present check cannot be called in this process. */
static void describe_why(const struct plugin_catalogue *catalogue, struct catalogue_problem *why)
{
    const struct probe_progress *tried = &catalogue->tried;

    if (tried->begun > tried->returned && catalogue->checks == tried->begun)
        (void)snprintf(why->text, sizeof why->text, "its check %.480s", catalogue->ended.text);
    else
        (void)snprintf(why->text, sizeof why->text,
                       "its check is not called: the process that tries it first %.430s",
                       catalogue->ended.text);
}

static int begin_check(void *context, struct catalogue_problem *why)
{
    struct plugin_catalogue *catalogue = context;

    catalogue->checks++;
    if (!catalogue->program || catalogue->checks <= catalogue->tried.returned)
        return WEIR_OK;
    describe_why(catalogue, why);
    return WEIR_EUNSUPPORTED;
}
