#include "config/state_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weir/settling.h>

/* An option that names a state file. */
struct state_file {
    const char *key;  /* equal for the same file */
    const char *path; /* of the option: `sources.lines.args.position` */
    struct mark mark;
    const char *same; /* path of the first option that names the same file; NULL = none */
    size_t order;
};

struct state_files {
    struct checking *checking;
    struct state_file *items; /* owned */
    size_t count;
};

/* By device and inode; a file that is not there, by those of its folder and its name. */
static const char *key_of(struct checking *checking, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    const char *folder = checking_text(checking, "%.*s.", (int)(name - file), file);
    struct stat about;

    if (lstat(file, &about) == 0)
        return checking_text(checking, "%ju:%ju", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino);
    if (!folder || stat(folder, &about) < 0)
        return folder ? file : NULL;
    return checking_text(checking, "%ju:%ju/%s", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                         name);
}

/* Reports a folder where any user may replace the file. Who owns the folder says nothing here: the
 * host may run as another user than the check. */
static void check_folder(struct state_files *files, const char *file, const struct mark *mark,
                         const char *path)
{
    struct stat folder;
    char reason[512];

    if (weir_settling_stat_folder_(file, &folder) != 0 || !weir_settling_is_shared_(&folder))
        return;
    report_add(files->checking->report, mark, path, "%s: %s", file,
               weir_settling_reason(file, EPERM, reason, sizeof reason));
    files->checking->wrong = true;
}

static int add(struct state_files *files, const char *file, const struct mark *mark,
               const char *path)
{
    struct state_file *items = realloc(files->items, (files->count + 1) * sizeof *items);
    const char *key = key_of(files->checking, file);

    if (items)
        files->items = items;
    if (!items || !key || !path)
        return WEIR_ENOMEM;
    check_folder(files, file, mark, path);
    items[files->count] = (struct state_file){ key, path, *mark, NULL, files->count };
    files->count++;
    return WEIR_OK;
}

/* A behaviour whose options are wrong has no options here. */
static int add_use(struct state_files *files, const struct settings_use *use, const char *section,
                   const char *owner)
{
    const struct weir_option *row = use->options ? use->entry->behaviour->options : NULL;
    int status = WEIR_OK;

    for (; row && row->name && status == WEIR_OK; row++) {
        const char *file = NULL;
        struct mark mark;

        if (row->kind != WEIR_STRING || !row->state)
            continue;
        memcpy(&file, (const char *)options_settings(use->options) + row->offset, sizeof file);
        mark = options_mark(use->options, row->name);
        if (file && *file)
            status = add(files, file, &mark,
                         checking_text(files->checking, "%s%s.args.%s", section, owner, row->name));
    }
    return status;
}

static int add_all(struct state_files *files)
{
    const struct checking *checking = files->checking;
    const struct settings *settings = checking->settings;
    const struct settings_host *host = &settings->host;
    int status = WEIR_OK;

    if (host->dead_letters.file)
        status = add(files, host->dead_letters.file,
                     written_mark(&host->written, "dead_letters.file"), "host.dead_letters.file");
    for (uint32_t i = 0; i < settings->source_count && status == WEIR_OK; i++)
        status = add_use(files, &settings->sources[i].use, "sources.", settings->sources[i].name);
    for (uint32_t i = 0; i < settings->pool_count && status == WEIR_OK; i++) {
        if (!settings->pools[i].copy)
            status = add_use(files, &settings->pools[i].use, "", checking->pools[i].path);
    }
    return status;
}

static int compare(const void *left, const void *right)
{
    const struct state_file *a = left, *b = right;
    int order = strcmp(a->key, b->key);

    return order != 0 ? order : a->order < b->order ? -1 : 1;
}

static int compare_order(const void *left, const void *right)
{
    const struct state_file *a = left, *b = right;

    return a->order < b->order ? -1 : 1;
}

static void find_equal(const struct state_files *files)
{
    const struct state_file *first = files->items;

    qsort(files->items, files->count, sizeof *files->items, compare);
    for (size_t i = 1; i < files->count; i++) {
        struct state_file *item = &files->items[i];

        if (strcmp(item->key, first->key) == 0)
            item->same = first->path;
        else
            first = item;
    }
}

/* In the order of the file. */
static void report_equal(const struct state_files *files)
{
    qsort(files->items, files->count, sizeof *files->items, compare_order);
    for (size_t i = 0; i < files->count; i++) {
        const struct state_file *item = &files->items[i];

        if (!item->same)
            continue;
        report_add(files->checking->report, &item->mark, item->path, "is the file of %s, too",
                   item->same);
        files->checking->wrong = true;
    }
}

int state_files_check(struct checking *checking)
{
    struct state_files files = { .checking = checking };
    int status = add_all(&files);

    if (status == WEIR_OK && files.count > 1) {
        find_equal(&files);
        report_equal(&files);
    }
    free(files.items);
    return status;
}
