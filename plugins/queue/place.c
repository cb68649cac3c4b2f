/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define HEAD_SIZE 100u       /* of a file of SQLite */
#define HEAD_FORMAT 60u      /* user_version, most significant byte first */
#define HEAD_APPLICATION 68u /* application_id, likewise */
#define HEAD_TEXT "SQLite format 3"

/* File systems of other machines, or of programs that may be: locks and syncs are not what they
 * say. See statfs(2). */
static const struct {
    unsigned long magic;
    const char *name;
} networks[] = {
    { 0x6969, "nfs" },       { 0xff534d42, "cifs" },   { 0xfe534d42, "smb2" },
    { 0x517b, "smb" },       { 0x564c, "ncp" },        { 0x00c36400, "ceph" },
    { 0x01021997, "9p" },    { 0x5346414f, "afs" },    { 0x73757245, "coda" },
    { 0x65735546, "fuse" },  { 0x0bd00bd0, "lustre" }, { 0x47504653, "gpfs" },
    { 0x7461636f, "ocfs2" }, { 0x01161970, "gfs2" },
};

/* Returns `error`, which is negative. */
__attribute__((format(printf, 3, 4))) static int refuse(char reason[PLACE_REASON_SIZE], int error,
                                                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, PLACE_REASON_SIZE, format, arguments);
    va_end(arguments);
    return error;
}

static char *with_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *text = malloc(size);

    if (text)
        (void)snprintf(text, size, "%s%s", path, suffix);
    return text;
}

/* --- the folder ------------------------------------------------------------------------------- */

int place_open_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    free(folder);
    return descriptor;
}

static int check_file_system(const char *path, char reason[PLACE_REASON_SIZE])
{
    int folder = place_open_folder(path);
    struct statfs about = { 0 };
    int error = 0;

    if (folder < 0 || fstatfs(folder, &about) < 0)
        error = errno;
    if (folder >= 0)
        (void)close(folder);
    if (error != 0)
        return refuse(reason, -error, "its folder: %s", strerror(error));
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if ((unsigned long)about.f_type == networks[i].magic)
            return refuse(reason, -EINVAL, "file system %s may be of another machine",
                          networks[i].name);
    return 0;
}

bool place_sync_folder(const struct place *place)
{
    int folder = place_open_folder(place->path);
    bool is_synced = folder >= 0 && fsync(folder) == 0;

    if (folder >= 0)
        (void)close(folder);
    return is_synced;
}

/* --- the lock --------------------------------------------------------------------------------- */

static int refuse_locked(int lock, const char *name, char reason[PLACE_REASON_SIZE])
{
    char text[24];
    ssize_t got = pread(lock, text, sizeof text - 1, 0);

    text[got > 0 ? got : 0] = '\0';
    text[strspn(text, "0123456789")] = '\0';
    return refuse(reason, -EAGAIN, "process %s has it (%s)", text[0] ? text : "unknown", name);
}

static int lock_file(struct place *place, char reason[PLACE_REASON_SIZE])
{
    char *name = with_suffix(place->path, ".lock");
    char text[24];
    int status = 0, length;

    if (!name)
        return refuse(reason, -ENOMEM, "memory is out");
    place->lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (place->lock < 0)
        status = refuse(reason, -errno, "its lock: %s", strerror(errno));
    else if (flock(place->lock, LOCK_EX | LOCK_NB) < 0)
        status = errno == EWOULDBLOCK ? refuse_locked(place->lock, name, reason)
                                      : refuse(reason, -errno, "its lock: %s", strerror(errno));
    free(name);
    if (status != 0)
        return status;
    /* For people, and for the refusal of another process. On a full disk the lock holds without. */
    length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(place->lock, 0) == 0 && pwrite(place->lock, text, (size_t)length, 0) < 0)
        return errno == ENOSPC ? 0 : refuse(reason, -errno, "its lock: %s", strerror(errno));
    return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

static uint32_t number_at(const unsigned char *head, size_t offset)
{
    const unsigned char *at = head + offset;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Reads the head without SQLite, which would recover, and so change, a file of somebody else. */
static int check_head(struct place *place, char reason[PLACE_REASON_SIZE])
{
    unsigned char head[HEAD_SIZE];
    ssize_t got = pread(place->descriptor, head, sizeof head, 0);
    uint32_t format;

    place->is_new = got == 0;
    if (got < 0)
        return refuse(reason, -errno, "it cannot be read: %s", strerror(errno));
    if (got == 0)
        return 0;
    if (got < (ssize_t)sizeof head || memcmp(head, HEAD_TEXT, sizeof HEAD_TEXT) != 0)
        return refuse(reason, -EINVAL, "it is no file of SQLite");
    if (number_at(head, HEAD_APPLICATION) != PLACE_APPLICATION)
        return refuse(reason, -EINVAL, "it is a file of another program");
    format = number_at(head, HEAD_FORMAT);
    if (format != PLACE_FORMAT)
        return refuse(reason, -EINVAL, "it has format %u, of %s version than this", format,
                      format > PLACE_FORMAT ? "a newer" : "an older");
    return 0;
}

/* `flags` of open(2). */
static int open_file(struct place *place, const char *path, int flags,
                     char reason[PLACE_REASON_SIZE])
{
    struct stat about;

    place->descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (place->descriptor < 0 && errno == ELOOP)
        return refuse(reason, -EINVAL, "it is a symbolic link");
    if (place->descriptor < 0 || fstat(place->descriptor, &about) < 0)
        return refuse(reason, -errno, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return refuse(reason, -EINVAL, "it is no plain file");
    /* Each name has a WAL and a lock of its own. */
    if (about.st_nlink != 1)
        return refuse(reason, -EINVAL, "it has more than one name");
    place->file = (struct place_identity){ about.st_dev, about.st_ino };
    return check_head(place, reason);
}

static int take(struct place *place, const char *path, char reason[PLACE_REASON_SIZE])
{
    int status;

    place->path = strdup(path);
    place->wal = with_suffix(path, "-wal");
    if (!place->path || !place->wal)
        return refuse(reason, -ENOMEM, "memory is out");
    status = check_file_system(path, reason);
    if (status == 0)
        status = lock_file(place, reason);
    return status == 0 ? open_file(place, path, O_RDWR | O_CREAT, reason) : status;
}

int place_open(struct place *place, const char *path, char reason[PLACE_REASON_SIZE])
{
    int status;

    *place = (struct place){ .descriptor = -1, .lock = -1 };
    status = take(place, path, reason);
    if (status != 0)
        place_close(place);
    return status;
}

void place_close(struct place *place)
{
    if (place->descriptor >= 0)
        (void)close(place->descriptor);
    if (place->lock >= 0) {
        /* A child that has not called exec yet has the descriptor, too. */
        (void)flock(place->lock, LOCK_UN);
        (void)close(place->lock);
    }
    free(place->path);
    free(place->wal);
    *place = (struct place){ .descriptor = -1, .lock = -1 };
}

int place_check(const char *path, char reason[PLACE_REASON_SIZE])
{
    struct place place = { .descriptor = -1, .lock = -1 };
    int status = open_file(&place, path, O_RDONLY, reason);

    place_close(&place);
    return status;
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool is_at(const char *path, const struct place_identity *identity)
{
    struct stat about;

    return lstat(path, &about) == 0 && about.st_dev == identity->device &&
           about.st_ino == identity->inode;
}

bool place_note_log(struct place *place)
{
    struct stat about;

    if (lstat(place->wal, &about) < 0 || !S_ISREG(about.st_mode))
        return false;
    place->log = (struct place_identity){ about.st_dev, about.st_ino };
    return true;
}

bool place_has_file(const struct place *place)
{
    return is_at(place->path, &place->file);
}

bool place_has_log(const struct place *place)
{
    return is_at(place->wal, &place->log);
}

uint64_t place_free_bytes(const struct place *place)
{
    struct statvfs about;

    if (fstatvfs(place->descriptor, &about) < 0)
        return 0;
    return (uint64_t)about.f_bavail * about.f_frsize;
}
