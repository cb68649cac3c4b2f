/* SPDX-License-Identifier: MIT */
#include "host/plugin/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "host/plugin/private_dir.h"
#include "host/plugin/probe.h"
#include "host/plugin/seen_files.h"
#include "host/plugin/shared_object.h"
#include "host/plugin/symbols.h"
#include "host/plugin/trust.h"

/*
 * One generation that was opened. Content that was opened and then refused has a number, too, since
 * dlopen knows its copy by name and would return it again.
 */
struct generation {
    struct generation *next;
    struct loaded loaded;
    void *handle;             /* of dlopen */
    char *file;               /* owned; loaded.file */
    struct private_copy copy; /* while it is lent; else the path is NULL */
    _Atomic uint32_t users;
    int refused;  /* 0, or the status */
    char *reason; /* owned; why it was refused, else NULL */
    char name[DESCRIPTOR_NAME_MAX + 1];
};

/* The number of a name's last generation. Numbers are never reused, not even after an unload. */
struct numbered {
    struct numbered *next;
    uint32_t last;
    char name[DESCRIPTOR_NAME_MAX + 1];
};

struct loader {
    const char *program;           /* the program that loads new content first; NULL: no trial */
    bool in_place;                 /* opens files, not their copies */
    struct lock lock;              /* held while the directory is made, removed or left */
    struct private_dir *directory; /* lock, to write; NULL before the first load */
    struct generation *generations;
    struct seen_files seen;
    struct numbered *numbered;
    struct symbols *symbols; /* owned; NULL: memory was out, so stacks name no functions */
    uint32_t stuck;          /* closed, but still mapped by the dynamic linker */
};

int loader_create(const char *program, struct loader **out_loader)
{
    struct loader *loader = calloc(1, sizeof *loader);

    if (!loader)
        return WEIR_ENOMEM;
    lock_init(&loader->lock, LOCK_LOADER);
    loader->program = program;
    loader->symbols = symbols_create();
    *out_loader = loader;
    return WEIR_OK;
}

void loader_open_in_place(struct loader *loader)
{
    loader->in_place = true;
    loader->program = NULL;
}

struct symbols *loader_symbols(const struct loader *loader)
{
    return loader->symbols;
}

static void generation_destroy(struct generation *generation)
{
    descriptor_finish(&generation->loaded.descriptor);
    if (generation->loaded.image >= 0)
        (void)close(generation->loaded.image);
    free(generation->file);
    free(generation->reason);
    free(generation);
}

void loader_destroy(struct loader *loader)
{
    if (!loader)
        return;
    seen_files_finish(&loader->seen);
    for (struct generation *generation = loader->generations, *next; generation;
         generation = next) {
        next = generation->next;
        generation_destroy(generation);
    }
    for (struct numbered *numbered = loader->numbered, *next; numbered; numbered = next) {
        next = numbered->next;
        free(numbered);
    }
    private_dir_destroy(loader->directory);
    symbols_destroy(loader->symbols);
    lock_finish(&loader->lock);
    free(loader);
}

void loader_leave(struct loader *loader)
{
    /* The lock is never released: another thread that makes a directory waits for the end of the
     * process. */
    lock_acquire(&loader->lock);
    if (loader->directory)
        private_dir_leave(loader->directory);
}

/* The plugin's name: the file's base name without `.so`, truncated. */
static void name_of(const char *file, char *out_name)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    size_t length = strnlen(base, DESCRIPTOR_NAME_MAX);

    if (length > 3 && memcmp(base + length - 3, ".so", 3) == 0)
        length -= 3;
    memcpy(out_name, base, length);
    out_name[length] = '\0';
}

static struct generation *find_content(struct loader *loader, const char *name, uint64_t hash,
                                       uint64_t size)
{
    for (struct generation *generation = loader->generations; generation;
         generation = generation->next) {
        if (generation->loaded.hash == hash && generation->loaded.size == size &&
            strcmp(generation->name, name) == 0)
            return generation;
    }
    return NULL;
}

/* 0 without memory. */
static uint32_t next_generation(struct loader *loader, const char *name)
{
    struct numbered *numbered = loader->numbered;

    while (numbered && strcmp(numbered->name, name) != 0)
        numbered = numbered->next;
    if (!numbered) {
        numbered = calloc(1, sizeof *numbered);
        if (!numbered)
            return 0;
        memcpy(numbered->name, name, strlen(name) + 1);
        numbered->next = loader->numbered;
        loader->numbered = numbered;
    }
    return ++numbered->last;
}

/* Checks an opened plugin, and keeps the sentence for later calls. */
static void judge(struct generation *generation, struct problem *problem)
{
    free(generation->reason);
    generation->reason = NULL;
    generation->refused = shared_object_read(generation->handle, generation->file,
                                             &generation->loaded.descriptor, problem);
    if (generation->refused)
        generation->reason = strdup(problem->text);
}

/* Creates a generation for the copy's content, not listed yet. Returns owned; NULL without
 * memory. */
static struct generation *generation_create(struct loader *loader, const char *file,
                                            const char *name, const struct private_copy *copy)
{
    struct generation *generation = calloc(1, sizeof *generation);

    if (!generation)
        return NULL;
    generation->loaded.image = -1;
    generation->file = strdup(file);
    generation->loaded.generation = next_generation(loader, name);
    if (!generation->file || !generation->loaded.generation) {
        generation_destroy(generation);
        return NULL;
    }
    memcpy(generation->name, name, strlen(name) + 1);
    generation->loaded.file = generation->file;
    generation->loaded.hash = copy->hash;
    generation->loaded.size = (uint64_t)copy->status.st_size;
    generation->loaded.users = &generation->users;
    return generation;
}

/* dlopen knows an open file by its name, and would return its former content. */
static bool is_open(const struct loader *loader, const char *file)
{
    const struct generation *generation = loader->generations;

    while (generation && strcmp(generation->file, file) != 0)
        generation = generation->next;
    return generation;
}

static int open_object(struct loader *loader, struct generation *generation, const char *path,
                       struct problem *problem)
{
    int status = shared_object_open(path, generation->file, &generation->handle, problem);

    if (status == WEIR_OK)
        symbols_add(loader->symbols, path, generation->file,
                    shared_object_base(generation->handle));
    return status;
}

static int open_in_place(struct loader *loader, struct generation *generation,
                         struct private_copy *copy, struct problem *problem)
{
    const char *file = generation->file;

    private_dir_discard(loader->directory, copy);
    if (is_open(loader, file))
        return problem_set(problem, WEIR_ENOTALLOWED,
                           "%s: has changed, and is open itself, not a copy of it; start the host "
                           "again, or without --debug",
                           file);
    return open_object(loader, generation, file, problem);
}

/* Opens the copy under its final name. On failure nothing stays loaded. */
static int open_copy(struct loader *loader, struct generation *generation,
                     struct private_copy *copy, struct problem *problem)
{
    char name[DESCRIPTOR_NAME_MAX + 32];
    int status;

    (void)snprintf(name, sizeof name, "%s.%u.so", generation->name, generation->loaded.generation);
    status = private_dir_rename(loader->directory, copy, name, problem);
    if (status != WEIR_OK)
        return status;
    status = open_object(loader, generation, copy->path, problem);
    /* It is mapped and needs no file any more. */
    private_dir_discard(loader->directory, copy);
    return status;
}

/* Returns a listed generation. Refused content stays refused, unless memory was out. */
static int answer(struct loader *loader, const char *file, const struct stat *status,
                  struct generation *generation, const struct loaded **out, struct problem *problem)
{
    if (generation->refused == WEIR_ENOMEM)
        judge(generation, problem);
    if (generation->refused)
        return problem_set(problem, generation->refused, "%s",
                           generation->reason ? generation->reason : "was refused before");
    seen_files_remember(&loader->seen, file, status, generation);
    *out = &generation->loaded;
    return WEIR_OK;
}

/* A file that the probe refuses is not opened here, and is probed again next time: a library may
 * be missing. */
static int probe_copy(struct loader *loader, const char *file, struct private_copy *copy,
                      struct problem *problem)
{
    int status = WEIR_OK;

    if (loader->program)
        status = probe_plugin(loader->program, copy->path, file, problem);
    if (status != WEIR_OK)
        private_dir_discard(loader->directory, copy);
    return status;
}

static int load_new(struct loader *loader, const char *file, const char *name,
                    struct private_copy *copy, const struct loaded **out, struct problem *problem)
{
    struct generation *generation = generation_create(loader, file, name, copy);
    int status;

    if (!generation)
        return problem_set(problem, WEIR_ENOMEM, "%s: out of memory", file);
    status = loader->in_place ? open_in_place(loader, generation, copy, problem)
                              : open_copy(loader, generation, copy, problem);
    if (status != WEIR_OK) {
        if (copy->path)
            private_dir_discard(loader->directory, copy);
        generation_destroy(generation);
        return status;
    }
    judge(generation, problem);
    generation->next = loader->generations;
    loader->generations = generation;
    return answer(loader, file, &copy->status, generation, out, problem);
}

static int load_copy(struct loader *loader, const char *file, struct private_copy *copy,
                     const struct loaded **out, struct problem *problem)
{
    char name[DESCRIPTOR_NAME_MAX + 1];
    struct generation *generation;

    name_of(file, name);
    generation = find_content(loader, name, copy->hash, (uint64_t)copy->status.st_size);
    if (!generation) {
        int status = probe_copy(loader, file, copy, problem);

        return status == WEIR_OK ? load_new(loader, file, name, copy, out, problem) : status;
    }
    private_dir_discard(loader->directory, copy);
    return answer(loader, file, &copy->status, generation, out, problem);
}

/* Makes the directory, again if it was swept away. Plugins loaded from the old one stay mapped. */
static int need_directory(struct loader *loader, struct problem *problem)
{
    int status = WEIR_OK;

    lock_acquire(&loader->lock);
    if (loader->directory && !private_dir_is_there(loader->directory)) {
        private_dir_destroy(loader->directory);
        loader->directory = NULL;
    }
    if (!loader->directory)
        status = private_dir_create(&loader->directory, problem);
    lock_release(&loader->lock);
    return status;
}

static int load_changed(struct loader *loader, const char *file, const struct loaded **out,
                        struct problem *problem)
{
    struct private_copy copy = { .path = NULL };
    int status = need_directory(loader, problem);

    if (status == WEIR_OK)
        status = private_dir_copy(loader->directory, file, "incoming.so", &copy, problem);
    return status == WEIR_OK ? load_copy(loader, file, &copy, out, problem) : status;
}

int loader_load_file(struct loader *loader, const char *file, const struct loaded **out_loaded,
                     struct problem *problem)
{
    const struct seen *seen = seen_files_find(&loader->seen, file);
    int status = trust_check(file, problem);

    if (status != WEIR_OK)
        return status;
    if (!seen || !seen_files_is_unchanged(seen))
        return load_changed(loader, file, out_loaded, problem);
    *out_loaded = &seen->generation->loaded;
    return WEIR_OK;
}

int loader_load_name(struct loader *loader, struct plugin_path *path, const char *name,
                     const struct loaded **out_loaded, struct problem *problem)
{
    char *file = plugin_path_find(path, name, problem);
    int status;

    if (!file)
        return WEIR_EUNKNOWN;
    status = loader_load_file(loader, file, out_loaded, problem);
    free(file);
    return status;
}

/* --- for another process --------------------------------------------------------------------- */

static struct generation *generation_of(struct loader *loader, const struct loaded *loaded)
{
    struct generation *generation = loader->generations;

    while (generation && &generation->loaded != loaded)
        generation = generation->next;
    return generation;
}

/* Copies `file` for the generation, if the file still has its content. */
static int lend_from(struct loader *loader, struct generation *generation, const char *file,
                     struct problem *problem)
{
    char name[DESCRIPTOR_NAME_MAX + 32];
    int status;

    (void)snprintf(name, sizeof name, "%s.%u.lent.so", generation->name,
                   generation->loaded.generation);
    status = private_dir_copy(loader->directory, file, name, &generation->copy, problem);
    if (status != WEIR_OK)
        return status;
    generation->loaded.copy = generation->copy.path;
    if (generation->copy.hash == generation->loaded.hash)
        return WEIR_OK;
    private_dir_discard(loader->directory, &generation->copy);
    generation->loaded.copy = NULL;
    return problem_set(problem, WEIR_ENOTALLOWED, "%s: has just changed", file);
}

static bool is_lending(const struct loader *loader)
{
    const struct generation *generation = loader->generations;

    while (generation && !generation->copy.path)
        generation = generation->next;
    return generation;
}

int loader_lend(struct loader *loader, const struct loaded *loaded, struct problem *problem)
{
    struct generation *generation = generation_of(loader, loaded);
    int status = WEIR_ENOTALLOWED;

    if (generation->copy.path)
        return WEIR_OK;
    if (!is_lending(loader) && need_directory(loader, problem) != WEIR_OK)
        return WEIR_ENOTALLOWED;
    /* The place of the last find may differ from the place of the first. */
    for (struct seen *seen = loader->seen.first; seen && status != WEIR_OK; seen = seen->next)
        if (seen->generation == generation)
            status = lend_from(loader, generation, seen->file, problem);
    return status == WEIR_OK ? status : lend_from(loader, generation, loaded->file, problem);
}

void loader_take_back(struct loader *loader)
{
    for (struct generation *generation = loader->generations; generation;
         generation = generation->next) {
        generation->loaded.copy = NULL;
        if (generation->copy.path)
            private_dir_discard(loader->directory, &generation->copy);
    }
}

int loader_keep_image(struct loader *loader, const struct loaded *loaded, struct problem *problem)
{
    struct generation *generation = generation_of(loader, loaded);
    int status = WEIR_OK;

    if (generation->loaded.image >= 0)
        return WEIR_OK;
    if (!loader->in_place)
        status = loader_lend(loader, loaded, problem);
    if (status != WEIR_OK)
        return status;
    generation->loaded.image = open(loader->in_place ? generation->file : generation->copy.path,
                                    O_RDONLY | O_CLOEXEC);
    if (generation->loaded.image < 0)
        status = problem_set(problem, WEIR_ENOTALLOWED, "%s: its copy cannot be opened: %s",
                             generation->file, strerror(errno));
    loader_take_back(loader);
    return status;
}

/* --- unloading ------------------------------------------------------------------------------- */

static bool is_used(const struct generation *generation)
{
    /* Acquire pairs with the release of the last user, whose accesses come before. */
    return atomic_load_explicit(&generation->users, memory_order_acquire) > 0;
}

const struct loaded *loader_find_unused(struct loader *loader)
{
    for (struct generation *generation = loader->generations; generation;
         generation = generation->next) {
        if (!generation->refused && !is_used(generation) &&
            (generation->loaded.descriptor.flags & WEIR_UNLOADABLE))
            return &generation->loaded;
    }
    return NULL;
}

void loader_unload(struct loader *loader, const struct loaded *loaded)
{
    struct generation **link = &loader->generations;
    struct generation *generation;

    while (*link && &(*link)->loaded != loaded)
        link = &(*link)->next;
    generation = *link;
    if (!generation)
        return;
    *link = generation->next;
    seen_files_forget(&loader->seen, generation);
    symbols_forget(loader->symbols, shared_object_base(generation->handle));
    loader->stuck += !shared_object_close(generation->handle);
    generation_destroy(generation);
}

uint32_t loader_kept(const struct loader *loader)
{
    uint32_t kept = loader->stuck;

    for (const struct generation *generation = loader->generations; generation;
         generation = generation->next)
        kept += !is_used(generation);
    return kept;
}
