/* SPDX-License-Identifier: MIT */
#include "host/plugin/private_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/plugin/elf_header.h"
#include "host/plugin/leftovers.h"
#include "host/plugin/trust.h"

#define BUFFER_SIZE ((size_t)64 * 1024) /* size of one read */
#define FNV_START 14695981039346656037u /* FNV-1a, 64 bits */
#define FNV_PRIME 1099511628211u
#define NAME_SIZE (sizeof LEFTOVERS_PREFIX + 16) /* with sixteen digits and the NUL */
#define LEAVE_TRIES 64                           /* a copy in progress needs one or two rounds */
#define MAKE_TRIES 16 /* a sweep can remove a directory only just after it was made */

/* A copy, listed for its removal. */
struct kept {
    struct kept *next;
    const char *name; /* in `path` */
    char path[];
};

struct private_dir {
    struct kept *copies;
    const char *name; /* in `path` */
    int parent;       /* descriptor of the parent directory */
    int folder;       /* its own descriptor, locked: a sweep skips locked directories */
    char path[];
};

static bool is_noexec(int directory)
{
    struct statvfs status;

    return fstatvfs(directory, &status) == 0 && (status.f_flag & ST_NOEXEC);
}

static bool is_private(int folder)
{
    struct stat status;

    return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
           (status.st_mode & 0777) == 0700;
}

/* Writes a random name after the path's last slash. */
static bool draw_name(char *name)
{
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return false;
    (void)snprintf(name, NAME_SIZE, LEFTOVERS_PREFIX "%016" PRIx64, number);
    return true;
}

/* Its descriptor, locked; negative: it could not be made. */
static int make_folder(int parent, char *name)
{
    for (int tries = 0; tries < MAKE_TRIES && draw_name(name); tries++) {
        int folder;

        if (mkdirat(parent, name, 0700) != 0)
            return -1;
        folder = leftovers_lock(parent, name);
        if (folder >= 0 && is_private(folder))
            return folder;
        if (folder >= 0)
            close(folder);
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    }
    return -1;
}

/* Takes the descriptor of the parent, also on failure. */
static struct private_dir *make_under(int parent, const char *parent_path)
{
    size_t length = strlen(parent_path) + 1;
    struct private_dir *dir = malloc(sizeof *dir + length + NAME_SIZE);
    int error;

    if (dir) {
        *dir = (struct private_dir){ .name = dir->path + length, .parent = parent };
        (void)snprintf(dir->path, length + 1, "%s/", parent_path);
        dir->folder = make_folder(parent, dir->path + length);
        if (dir->folder >= 0)
            return dir;
    }
    error = errno;
    free(dir);
    close(parent);
    errno = error;
    return NULL;
}

/* Refuses a parent in which others could replace our directory, and so run code as the host. For
 * users other than root, a directory that they chose and /tmp are allowed. */
static int check_trust(const char *parent, bool chosen, struct problem *problem)
{
    struct trust trust;
    char why[PROBLEM_SIZE / 2];
    int error = trust_look(parent, &trust);

    if (error == 0 && (trust.flaw == TRUST_SAFE ||
                       (trust.flaw == TRUST_WRITABLE && chosen && !trust_forbids(&trust))))
        return WEIR_OK;
    if (error == 0)
        trust_describe(&trust, why, sizeof why);
    return problem_set(problem, WEIR_ENOTALLOWED,
                       "cannot make a directory for plugins in %s: %s; set WEIR_PLUGIN_TMP to one "
                       "that can be written, by you alone",
                       parent, error == 0 ? why : strerror(-error));
}

/* 0, or the reason. `chosen`: the user named this directory, and no other is tried. */
static int try_under(const char *parent, bool chosen, struct private_dir **out_dir,
                     struct problem *problem)
{
    int status = check_trust(parent, chosen, problem);
    int folder;

    if (status != WEIR_OK)
        return status;
    folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && is_noexec(folder)) {
        close(folder);
        return problem_set(problem, WEIR_ENOTALLOWED,
                           "%s is mounted noexec, so no plugin can be loaded from there; set "
                           "WEIR_PLUGIN_TMP to a directory where code may be mapped",
                           parent);
    }
    if (folder >= 0)
        leftovers_sweep(folder);
    *out_dir = folder >= 0 ? make_under(folder, parent) : NULL;
    if (!*out_dir)
        return problem_set(problem, WEIR_ENOTALLOWED,
                           "cannot make a directory for plugins in %s: %s; set WEIR_PLUGIN_TMP to "
                           "one that can be written",
                           parent, strerror(errno));
    return WEIR_OK;
}

int private_dir_create(struct private_dir **out_dir, struct problem *problem)
{
    const char *chosen = getenv("WEIR_PLUGIN_TMP");
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (chosen && chosen[0])
        return try_under(chosen, true, out_dir, problem);
    if (runtime && runtime[0] == '/' && try_under(runtime, false, out_dir, problem) == WEIR_OK)
        return WEIR_OK;
    return try_under("/tmp", true, out_dir, problem);
}

void private_dir_destroy(struct private_dir *dir)
{
    if (!dir)
        return;
    for (struct kept *kept = dir->copies, *next; kept; kept = next) {
        next = kept->next;
        (void)unlinkat(dir->folder, kept->name, 0);
        free(kept);
    }
    if (private_dir_is_there(dir))
        (void)unlinkat(dir->parent, dir->name, AT_REMOVEDIR);
    close(dir->folder);
    close(dir->parent);
    free(dir);
}

void private_dir_leave(const struct private_dir *dir)
{
    int tries = 0;

    /* A copy in progress is removed in the next round; no file can be made in a removed
     * directory. */
    do
        leftovers_remove_files(dir->folder);
    while (private_dir_is_there(dir) && unlinkat(dir->parent, dir->name, AT_REMOVEDIR) != 0 &&
           ++tries < LEAVE_TRIES);
}

bool private_dir_is_there(const struct private_dir *dir)
{
    struct stat made, found;

    return fstat(dir->folder, &made) == 0 && lstat(dir->path, &found) == 0 &&
           found.st_dev == made.st_dev && found.st_ino == made.st_ino;
}

const char *private_dir_path(const struct private_dir *dir)
{
    return dir->path;
}

static struct kept *keep_path(struct private_dir *dir, const char *name)
{
    size_t size = strlen(dir->path) + 1 + strlen(name) + 1;
    struct kept *kept = malloc(sizeof *kept + size);

    if (!kept)
        return NULL;
    (void)snprintf(kept->path, size, "%s/%s", dir->path, name);
    kept->name = kept->path + strlen(dir->path) + 1;
    kept->next = dir->copies;
    dir->copies = kept;
    return kept;
}

/* Removes the path from the list; a file stays. */
static void forget(struct private_dir *dir, struct kept *kept)
{
    struct kept **link = &dir->copies;

    while (*link && *link != kept)
        link = &(*link)->next;
    if (*link)
        *link = kept->next;
    free(kept);
}

static void remove_kept(struct private_dir *dir, struct kept *kept)
{
    (void)unlinkat(dir->folder, kept->name, 0);
    forget(dir, kept);
}

static int open_source(const char *path, struct stat *out_status, struct problem *problem)
{
    /* Non-blocking, for a FIFO. */
    int source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (source < 0)
        return problem_set(problem, WEIR_EUNKNOWN, "%s: cannot be opened: %s", path,
                           strerror(errno));
    if (fstat(source, out_status) != 0) {
        int error = errno;

        close(source);
        return problem_set(problem, WEIR_EUNKNOWN, "%s: cannot be read: %s", path, strerror(error));
    }
    if (!S_ISREG(out_status->st_mode)) {
        close(source);
        return problem_set(problem, WEIR_EUNSUPPORTED, "%s: is not a regular file", path);
    }
    if ((uint64_t)out_status->st_size > PRIVATE_DIR_FILE_MAX) {
        close(source);
        return problem_set(problem, WEIR_EUNSUPPORTED, "%s: is larger than 1 GiB", path);
    }
    return source;
}

static int write_whole(int target, const unsigned char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(target, bytes, size);

        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

static ssize_t read_some(int source, unsigned char *bytes, size_t size)
{
    ssize_t got;

    do
        got = read(source, bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

static uint64_t hash_on(uint64_t hash, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * FNV_PRIME;
    return hash;
}

/* The copying of one file. */
struct copying {
    int source;
    int target;
    const char *path; /* of the source */
    unsigned char *buffer;
    uint64_t hash;
    uint64_t size;
    uint64_t promised; /* the file's size when it was opened */
};

static int check_header(const struct copying *copying, size_t size, struct problem *problem)
{
    int status = elf_header_check(copying->buffer, size, copying->path, problem);

    if (status == WEIR_OK)
        status = elf_header_check_whole(copying->buffer, size, copying->promised, copying->path,
                                        problem);
    return status;
}

/* Checks the first read before it writes a byte. */
static int copy_bytes(struct copying *copying, struct problem *problem)
{
    for (bool first = true;; first = false) {
        ssize_t got = read_some(copying->source, copying->buffer, BUFFER_SIZE);

        if (got < 0)
            return problem_set(problem, WEIR_EUNKNOWN, "%s: cannot be read: %s", copying->path,
                               strerror(errno));
        if (first) {
            int status = check_header(copying, (size_t)got, problem);

            if (status != WEIR_OK)
                return status;
        }
        if (got == 0)
            return WEIR_OK;
        if (write_whole(copying->target, copying->buffer, (size_t)got) != 0)
            return problem_set(problem, WEIR_ENOTALLOWED, "%s: cannot be copied: %s", copying->path,
                               strerror(errno));
        copying->hash = hash_on(copying->hash, copying->buffer, (size_t)got);
        copying->size += (uint64_t)got;
    }
}

/* Ignores the time of the inode's change, which changes when a new file takes the name. */
static bool is_same_state(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int check_unchanged(const struct copying *copying, const struct stat *before,
                           struct problem *problem)
{
    struct stat after;

    if (fstat(copying->source, &after) != 0)
        return problem_set(problem, WEIR_EUNKNOWN, "%s: cannot be read: %s", copying->path,
                           strerror(errno));
    if (is_same_state(before, &after) && copying->size == (uint64_t)after.st_size)
        return WEIR_OK;
    return problem_set(problem, WEIR_ENOTALLOWED,
                       "%s: is still being written; install a plugin under another name, then "
                       "rename it",
                       copying->path);
}

static int copy_open_files(struct copying *copying, const struct stat *before,
                           struct problem *problem)
{
    int status;

    copying->buffer = malloc(BUFFER_SIZE);
    if (!copying->buffer)
        return problem_set(problem, WEIR_ENOMEM, "%s: out of memory", copying->path);
    status = copy_bytes(copying, problem);
    free(copying->buffer);
    return status == WEIR_OK ? check_unchanged(copying, before, problem) : status;
}

/* Copies into the listed path. Checks close, too, since some file systems report a full disk
 * there. */
static int copy_to(struct private_dir *dir, struct copying *copying, const struct kept *kept,
                   const struct stat *before, struct problem *problem)
{
    int status;

    (void)unlinkat(dir->folder, kept->name, 0);
    copying->target = openat(dir->folder, kept->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             0500);
    if (copying->target < 0)
        return problem_set(problem, WEIR_ENOTALLOWED, "%s: cannot be copied to %s: %s",
                           copying->path, kept->path, strerror(errno));
    status = copy_open_files(copying, before, problem);
    if (close(copying->target) != 0 && status == WEIR_OK)
        status = problem_set(problem, WEIR_ENOTALLOWED, "%s: cannot be copied to %s: %s",
                             copying->path, kept->path, strerror(errno));
    return status;
}

int private_dir_copy(struct private_dir *dir, const char *path, const char *name,
                     struct private_copy *out_copy, struct problem *problem)
{
    struct copying copying = { .path = path, .hash = FNV_START };
    struct stat before = { .st_size = 0 };
    struct kept *kept;
    int status;

    copying.source = open_source(path, &before, problem);
    if (copying.source < 0)
        return copying.source;
    kept = keep_path(dir, name);
    if (!kept) {
        status = problem_set(problem, WEIR_ENOMEM, "%s: out of memory", path);
        goto done;
    }
    copying.promised = (uint64_t)before.st_size;
    status = copy_to(dir, &copying, kept, &before, problem);
    if (status != WEIR_OK)
        remove_kept(dir, kept);
    else
        *out_copy = (struct private_copy){ .path = kept->path,
                                           .hash = copying.hash,
                                           .status = before };
done:
    close(copying.source);
    return status;
}

static struct kept *find_kept(const struct private_dir *dir, const char *path)
{
    struct kept *kept = dir->copies;

    while (kept && kept->path != path)
        kept = kept->next;
    return kept;
}

int private_dir_rename(struct private_dir *dir, struct private_copy *copy, const char *name,
                       struct problem *problem)
{
    struct kept *before = find_kept(dir, copy->path);
    struct kept *after = before ? keep_path(dir, name) : NULL;

    if (!after)
        return problem_set(problem, WEIR_ENOMEM, "%s: out of memory", name);
    if (renameat(dir->folder, before->name, dir->folder, after->name) != 0) {
        (void)problem_set(problem, WEIR_ENOTALLOWED, "%s: cannot be renamed to %s: %s",
                          before->path, after->path, strerror(errno));
        forget(dir, after);
        return WEIR_ENOTALLOWED;
    }
    forget(dir, before);
    copy->path = after->path;
    return WEIR_OK;
}

void private_dir_discard(struct private_dir *dir, struct private_copy *copy)
{
    struct kept *kept = find_kept(dir, copy->path);

    if (kept)
        remove_kept(dir, kept);
    copy->path = NULL;
}
