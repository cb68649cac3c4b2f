/* SPDX-License-Identifier: MIT */
#include "config/state_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/settling.h>

enum role {
    ROLE_STATE,  /* an option names it */
    ROLE_BESIDE, /* the lock of such a file, or its next content: weir/settling.h */
    ROLE_OUTPUT, /* appended to: it may be that of several options */
};

/* A file of the configuration. */
struct state_file {
    const char *key; /* equal for the same file, at least */
    const char *file;
    const char *path; /* of the option: `sources.lines.args.position` */
    struct mark mark;
    enum role role;
    const char *same; /* path of the first option that names the same file; NULL = none */
    size_t order;
};

struct state_files {
    struct checking *checking;
    struct state_file *items; /* owned */
    size_t count;
};

/* By device and inode; a file that is not there, by those of its folder and its name. An output
 * may be a link. */
static const char *key_of(struct checking *checking, const char *file, bool follows)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    const char *folder = checking_text(checking, "%.*s.", (int)(name - file), file);
    struct stat about;

    if (fstatat(AT_FDCWD, file, &about, follows ? 0 : AT_SYMLINK_NOFOLLOW) == 0)
        return checking_text(checking, "%ju:%ju", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino);
    if (!folder || stat(folder, &about) < 0)
        return folder ? file : NULL;
    return checking_text(checking, "%ju:%ju/%s", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                         name);
}

/* Reports what no user can keep a state in: a folder where any user may replace the file, and what
 * is no regular file. Who owns them says nothing here: the host may run as another user than the
 * check. */
static void check_place(struct state_files *files, const char *file, const struct mark *mark,
                        const char *path)
{
    struct stat about;
    char reason[512];
    int error = 0;

    if (weir_settling_stat_folder_(file, &about) == 0 && weir_settling_is_shared_(&about))
        error = EPERM;
    else if (lstat(file, &about) == 0)
        error = weir_settling_kind_(&about);
    if (error == 0)
        return;
    report_add(files->checking->report, mark, path, "%s: %s", file,
               weir_settling_reason(file, error, reason, sizeof reason));
    files->checking->wrong = true;
}

static int add(struct state_files *files, const char *file, const struct mark *mark,
               const char *path, enum role role)
{
    struct state_file *items = realloc(files->items, (files->count + 1) * sizeof *items);
    const char *key = file ? key_of(files->checking, file, role == ROLE_OUTPUT) : NULL;

    if (items)
        files->items = items;
    if (!items || !key || !path)
        return WEIR_ENOMEM;
    items[files->count] = (struct state_file){ key, file, path, *mark, role, NULL, files->count };
    files->count++;
    return WEIR_OK;
}

static int add_state(struct state_files *files, const char *file, const struct mark *mark,
                     const char *path)
{
    static const char *const ends[] = { ".lock", ".new" };
    int status = add(files, file, mark, path, ROLE_STATE);

    if (status == WEIR_OK)
        check_place(files, file, mark, path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends && status == WEIR_OK; i++)
        status = add(files, checking_text(files->checking, "%s%s", file, ends[i]), mark,
                     checking_text(files->checking, "%s (its %s)", path, ends[i]), ROLE_BESIDE);
    return status;
}

/* A behaviour whose options are wrong has no options here. */
static int add_use(struct state_files *files, const struct settings_use *use, const char *section,
                   const char *owner)
{
    const struct weir_option *row = use->options ? use->entry->behaviour->options : NULL;
    int status = WEIR_OK;

    for (; row && row->name && status == WEIR_OK; row++) {
        const char *file = NULL, *path;
        struct mark mark;

        if (row->kind != WEIR_STRING || (!row->state && !row->writes))
            continue;
        memcpy(&file, (const char *)options_settings(use->options) + row->offset, sizeof file);
        if (!file || !*file)
            continue;
        mark = options_mark(use->options, row->name);
        path = checking_text(files->checking, "%s%s.args.%s", section, owner, row->name);
        status = row->state ? add_state(files, file, &mark, path)
                            : add(files, file, &mark, path, ROLE_OUTPUT);
    }
    return status;
}

static int add_all(struct state_files *files)
{
    const struct checking *checking = files->checking;
    const struct settings *settings = checking->settings;
    const struct settings_host *host = &settings->host;
    int status = WEIR_OK;

    if (host->control)
        status = add(files, host->control, written_mark(&host->written, "control"), "host.control",
                     ROLE_STATE);
    if (host->dead_letters.file && status == WEIR_OK)
        status = add_state(files, host->dead_letters.file,
                           written_mark(&host->written, "dead_letters.file"),
                           "host.dead_letters.file");
    if (host->crash_file && status == WEIR_OK)
        status = add_state(files, host->crash_file, written_mark(&host->written, "crash_file"),
                           "host.crash_file");
    for (uint32_t i = 0; i < settings->source_count && status == WEIR_OK; i++)
        status = add_use(files, &settings->sources[i].use, "sources.", settings->sources[i].name);
    for (uint32_t i = 0; i < settings->pool_count && status == WEIR_OK; i++) {
        if (!settings->pools[i].copy)
            status = add_use(files, &settings->pools[i].use, "", checking->pools[i].path);
    }
    return status;
}

/* Of equal files the states come first. */
static int compare(const void *left, const void *right)
{
    const struct state_file *a = left, *b = right;
    int order = strcmp(a->key, b->key);

    if (order == 0)
        order = (int)a->role - (int)b->role;
    return order != 0 ? order : a->order < b->order ? -1 : 1;
}

static int compare_order(const void *left, const void *right)
{
    const struct state_file *a = left, *b = right;

    return a->order < b->order ? -1 : 1;
}

static int open_place(const struct state_file *item, struct stat *out_about)
{
    int flags = item->role == ROLE_OUTPUT ? 0 : O_NOFOLLOW;
    int descriptor = open(item->file, O_PATH | O_CLOEXEC | flags);

    if (descriptor >= 0 && fstat(descriptor, out_about) != 0)
        *out_about = (struct stat){ 0 };
    return descriptor;
}

/* True for files with one key, when it is that of one file. A source that saves its position
 * replaces the file, and the file system gives the number of the former one to the next: not while
 * it is open, and a state is opened before what will take its place. */
static bool are_one(const struct state_file *first, const struct state_file *second)
{
    struct stat one = { 0 }, other = { 0 };
    int here = open_place(first, &one), there = open_place(second, &other);
    bool equal = one.st_dev == other.st_dev && one.st_ino == other.st_ino;

    if (here >= 0)
        (void)close(here);
    if (there >= 0)
        (void)close(there);
    return equal;
}

/* Two outputs may be one file. When two states are one file, that says it for those beside them. */
static void find_equal(const struct state_files *files)
{
    const struct state_file *first = files->items;

    qsort(files->items, files->count, sizeof *files->items, compare);
    for (size_t i = 1; i < files->count; i++) {
        struct state_file *item = &files->items[i];

        if (strcmp(item->key, first->key) != 0)
            first = item;
        else if ((first->role == ROLE_STATE || item->role != first->role) && are_one(first, item))
            item->same = first->path;
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
