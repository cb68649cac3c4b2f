/* SPDX-License-Identifier: MIT */
#include "host/plugin/plugin_path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/fault.h>

#include "base/text.h"
#include "host/log/line.h"

#define GUESSES_MAX 64 /* names that are compared for a guess */

#if !defined(WEIR_PLUGINS_INSTALLED) || !defined(WEIR_PLUGINS_BESIDE)
#error "the build says where plugins are installed, and where that is from the program"
#endif

/* The existing plugins, for a guess after a wrong name. */
struct plugin_names {
    size_t count;
    char names[GUESSES_MAX][NAME_MAX + 1];
};

void plugin_path_init(struct plugin_path *path)
{
    *path = (struct plugin_path){ NULL, 0, NULL };
}

void plugin_path_finish(struct plugin_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        free(path->directories[i]);
    free(path->directories);
    free(path->names);
    plugin_path_init(path);
}

static bool has(const struct plugin_path *path, const char *directory)
{
    for (size_t i = 0; i < path->count; i++) {
        if (strcmp(path->directories[i], directory) == 0)
            return true;
    }
    return false;
}

int plugin_path_add(struct plugin_path *path, const char *directory)
{
    char **grown;

    if (!directory[0] || has(path, directory))
        return WEIR_OK;
    grown = realloc(path->directories, (path->count + 1) * sizeof *grown);
    if (!grown)
        return WEIR_ENOMEM;
    path->directories = grown;
    free(path->names);
    path->names = NULL;
    grown[path->count] = strdup(directory);
    if (!grown[path->count])
        return WEIR_ENOMEM;
    path->count++;
    return WEIR_OK;
}

static int add_listed(struct plugin_path *path, const char *list)
{
    int status = WEIR_OK;

    while (list && *list && status == WEIR_OK) {
        size_t length = strcspn(list, ":");
        char *directory = strndup(list, length);

        status = directory ? plugin_path_add(path, directory) : WEIR_ENOMEM;
        free(directory);
        list += length + (list[length] == ':');
    }
    return status;
}

/* Relative to the program's directory, so that a build tree and a moved installation work. */
static int add_beside_program(struct plugin_path *path, const char *relative)
{
    char program[PATH_MAX], directory[PATH_MAX + 32], resolved[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    if (length <= 0)
        return WEIR_OK;
    program[length] = '\0';
    slash = strrchr(program, '/');
    if (!slash)
        return WEIR_OK;
    *slash = '\0';
    (void)snprintf(directory, sizeof directory, "%s/%s", program, relative);
    return realpath(directory, resolved) ? plugin_path_add(path, resolved) : WEIR_OK;
}

int plugin_path_add_defaults(struct plugin_path *path)
{
    int status = add_listed(path, getenv("WEIR_PLUGIN_PATH"));

    if (status == WEIR_OK)
        status = add_beside_program(path, "../plugins");
    if (status == WEIR_OK)
        status = add_beside_program(path, WEIR_PLUGINS_BESIDE);
    if (status == WEIR_OK)
        status = plugin_path_add(path, WEIR_PLUGINS_INSTALLED);
    return status;
}

/* Adds the plugins of one directory. */
static void add_names(const char *path, struct plugin_names *out)
{
    DIR *directory = opendir(path);

    for (struct dirent *entry;
         directory && out->count < GUESSES_MAX && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);

        if (length <= 3 || strcmp(entry->d_name + length - 3, ".so") != 0)
            continue;
        memcpy(out->names[out->count], entry->d_name, length - 3);
        out->names[out->count++][length - 3] = '\0';
    }
    if (directory)
        closedir(directory);
}

/* Read once: a file may name a thousand missing plugins. NULL when memory is out. */
static const struct plugin_names *names_of(struct plugin_path *path)
{
    if (path->names)
        return path->names;
    path->names = calloc(1, sizeof *path->names);
    for (size_t i = 0; path->names && i < path->count; i++)
        add_names(path->directories[i], path->names);
    return path->names;
}

const char *plugin_path_name(struct plugin_path *path, size_t index)
{
    const struct plugin_names *names = names_of(path);

    return names && index < names->count ? names->names[index] : NULL;
}

/* Adds the name of an existing plugin that is similar. */
static void add_guess(struct line *line, struct plugin_path *path, const char *name)
{
    const struct plugin_names *names = names_of(path);
    struct text_guess guess;

    text_guess_init(&guess, name);
    for (size_t i = 0; names && i < names->count; i++)
        text_guess_offer(&guess, names->names[i]);
    if (text_guess_best(&guess))
        line_format(line, "; did you mean \"%s\"?", text_guess_best(&guess));
}

static void report_not_found(struct plugin_path *path, const char *name, struct problem *problem)
{
    struct line line;

    line_init(&line, problem->text, sizeof problem->text);
    line_format(&line, "no plugin called %.64s: there is no %.64s.so in ", name, name);
    for (size_t i = 0; i < path->count; i++) {
        line_text(&line, i ? ", " : "");
        line_text(&line, path->directories[i]);
    }
    if (path->count == 0)
        line_text(&line, "any directory, since none is configured");
    add_guess(&line, path, name);
}

static char *join(const char *directory, const char *name)
{
    size_t size = strlen(directory) + 1 + strlen(name) + sizeof ".so";
    char *file = malloc(size);

    if (file)
        (void)snprintf(file, size, "%s/%s.so", directory, name);
    return file;
}

char *plugin_path_file(const struct plugin_path *path, size_t index, const char *name)
{
    return index < path->count ? join(path->directories[index], name) : NULL;
}

char *plugin_path_find(struct plugin_path *path, const char *name, struct problem *problem)
{
    if (!name[0] || name[0] == '.' || strchr(name, '/') || strlen(name) > NAME_MAX - 3) {
        (void)problem_set(problem, WEIR_EINVALID, "\"%.64s\" is not the name of a plugin", name);
        return NULL;
    }
    for (size_t i = 0; i < path->count; i++) {
        char *file = join(path->directories[i], name);

        if (!file) {
            (void)problem_set(problem, WEIR_ENOMEM, "out of memory");
            return NULL;
        }
        /* One that cannot be looked up now is not passed by for another of the name. */
        if (access(file, F_OK) == 0 || weir_fault_of(errno) != WEIR_FAULT_OTHER)
            return file;
        free(file);
    }
    report_not_found(path, name, problem);
    return NULL;
}
