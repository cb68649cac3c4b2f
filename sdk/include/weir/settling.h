/* SPDX-License-Identifier: MIT */
/*
 * weir/settling.h - for a source that stores its position: how far its messages are settled, in the
 * order in which they were sent, and a file that outlives a crash.
 *
 * Not part of <weir/plugin.h>; inline only, nothing to link. A source that uses it calls
 *
 *      open      weir_settling_lock, weir_settling_load, weir_settling_init
 *      produce   while weir_settling_has_room: weir_settling_add, weir_set_origin with the token,
 *                weir_emit; weir_settling_undo when that is refused
 *      settled   weir_settling_end; from time to time weir_settling_save with the place
 *      close     weir_settling_save, weir_settling_unlock, weir_settling_finish
 *
 * A place is a number that grows: an offset, a row, a serial number. For an offset in a file that
 * may be renamed, replaced or truncated meanwhile, weir_settling_load_file and
 * weir_settling_save_file also tell whether it is still that file. Not synchronised. load and save
 * wait for the disk: set WEIR_BLOCKING.
 */
#ifndef WEIR_SETTLING_H
#define WEIR_SETTLING_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "delivery.h"
#include "file_identity.h"

/* The messages between the position and the front: a ring. */
struct weir_settling {
    uint64_t *places; /* owned: of the end of each message */
    bool *ended;      /* owned: of each message */
    uint32_t capacity;
    uint64_t first; /* token of the first message that is not settled */
    uint64_t next;  /* token of the next message */
    uint64_t place; /* up to here everything is settled */
};

/* `capacity`: the most messages between `place` and the last one that was sent, at least 1. After a
 * crash these come again, and all that were settled since the last weir_settling_save. Everything
 * before `place` is settled. WEIR_ENOMEM, WEIR_EINVALID. */
static inline int weir_settling_init(struct weir_settling *settling, uint32_t capacity,
                                     uint64_t place)
{
    memset(settling, 0, sizeof *settling);
    settling->capacity = capacity;
    settling->place = place;
    if (capacity == 0)
        return WEIR_EINVALID;
    settling->places = (uint64_t *)calloc(capacity, sizeof *settling->places);
    settling->ended = (bool *)calloc(capacity, sizeof *settling->ended);
    if (settling->places && settling->ended)
        return 0;
    free(settling->places);
    free(settling->ended);
    memset(settling, 0, sizeof *settling);
    return WEIR_ENOMEM;
}

/* Legal after a failed init, and twice. */
static inline void weir_settling_finish(struct weir_settling *settling)
{
    free(settling->places);
    free(settling->ended);
    memset(settling, 0, sizeof *settling);
}

/* False: the source waits until an outcome comes. */
static inline bool weir_settling_has_room(const struct weir_settling *settling)
{
    return settling->next - settling->first < settling->capacity;
}

/* True when every message is settled. */
static inline bool weir_settling_is_idle(const struct weir_settling *settling)
{
    return settling->next == settling->first;
}

/* Notes the message that is sent next, which ends at `place`. There must be room. Returns the token
 * for weir_set_origin. */
static inline uint64_t weir_settling_add(struct weir_settling *settling, uint64_t place)
{
    settling->places[settling->next % settling->capacity] = place;
    settling->ended[settling->next % settling->capacity] = false;
    return settling->next++;
}

/* Takes the last add back: the message was refused. */
static inline void weir_settling_undo(struct weir_settling *settling)
{
    settling->next--;
}

/*
 * A message has ended: call it in `settled`. True: `place` has moved. A message that is to be
 * retried, or is dead and not stored (see weir_outcome), stays open: the source sends it again with
 * the same token, or the place stays before it.
 */
static inline bool weir_settling_end(struct weir_settling *settling,
                                     const struct weir_outcome *outcome)
{
    const uint64_t before = settling->first;

    if (outcome->result == WEIR_OUTCOME_RETRY ||
        (outcome->result == WEIR_OUTCOME_DEAD && !outcome->is_stored))
        return false;
    settling->ended[outcome->token % settling->capacity] = true;
    while (settling->first < settling->next &&
           settling->ended[settling->first % settling->capacity]) {
        settling->place = settling->places[settling->first % settling->capacity];
        settling->first++;
    }
    return settling->first != before;
}

/* --- the file: needs POSIX.1-2008, which weir_add_plugin asks for --------------------------- */

#ifdef O_CLOEXEC

/* Whether that is a regular file: 0, or ELOOP: a link, EISDIR: a folder, ENOTSUP: a device, a FIFO
 * or a socket. */
static inline int weir_settling_kind_(const struct stat *about)
{
    if (S_ISREG(about->st_mode))
        return 0;
    if (S_ISLNK(about->st_mode))
        return ELOOP;
    return S_ISDIR(about->st_mode) ? EISDIR : ENOTSUP;
}

/* Returns owned: the folder of a file, as a path that can be opened; NULL: memory is out. */
static inline char *weir_settling_folder_(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0; /* with the slash */
    char *folder = (char *)malloc(length + 2);

    if (!folder)
        return NULL;
    memcpy(folder, path, length);
    memcpy(folder + length, ".", 2);
    return folder;
}

/* Whether this user trusts another one: root, or the owner of `/`, which is root where a name space
 * of users has no number for it. */
static inline bool weir_settling_trusts_(uid_t user)
{
    struct stat top;

    return user == geteuid() || user == 0 || (stat("/", &top) == 0 && user == top.st_uid);
}

/* Whether users other than the owner of a folder can replace files there that are not theirs. */
static inline bool weir_settling_is_shared_(const struct stat *folder)
{
    const mode_t sticky = 01000; /* S_ISVTX, which POSIX.1-2008 alone does not have */

    return (folder->st_mode & (S_IWGRP | S_IWOTH)) != 0 && (folder->st_mode & sticky) == 0;
}

/* 0 or an errno. */
static inline int weir_settling_stat_folder_(const char *path, struct stat *out_folder)
{
    char *folder = weir_settling_folder_(path);
    int error = !folder ? ENOMEM : stat(folder, out_folder) < 0 ? errno : 0;

    free(folder);
    return error;
}

/* Whether only this user and root can replace files of this user in the folder of a file: 0 or an
 * errno, EPERM: others can. */
static inline int weir_settling_check_folder_(const char *path)
{
    struct stat folder;
    int error = weir_settling_stat_folder_(path, &folder);

    if (error != 0)
        return error;
    return weir_settling_is_shared_(&folder) || !weir_settling_trusts_(folder.st_uid) ? EPERM : 0;
}

/* Whether that is a regular file of this user or of root: 0 or an errno, as weir_settling_check. */
static inline int weir_settling_check_file_(const struct stat *about)
{
    int error = weir_settling_kind_(about);

    return error != 0 ? error : weir_settling_trusts_(about->st_uid) ? 0 : EPERM;
}

/* As weir_settling_check_file_, of an open file. */
static inline int weir_settling_check_open_(int descriptor)
{
    struct stat about;

    return fstat(descriptor, &about) < 0 ? errno : weir_settling_check_file_(&about);
}

/*
 * Whether a file of this name may be read and replaced here: it is a regular file or not there, and
 * nobody but this user and root can put another one in its place. A link, a folder, a device, a
 * FIFO or a socket is never opened, followed or replaced: other users may have put it there.
 *
 * Returns 0 or an errno: ELOOP: a link, EISDIR: a folder, ENOTSUP: one of the others; EPERM: the
 * file or its folder belongs to a user who is neither this one nor root, or others may write to the
 * folder, and it has no sticky bit. weir_settling_reason says which. For weir_check_settings, and
 * before the first use.
 */
static inline int weir_settling_check(const char *path)
{
    char *folder = weir_settling_folder_(path);
    struct stat about;
    int error;

    if (!folder)
        return ENOMEM;
    error = access(folder, W_OK | X_OK) < 0 ? errno : weir_settling_check_folder_(path);
    free(folder);
    if (error != 0)
        return error;
    if (lstat(path, &about) < 0)
        return errno == ENOENT ? 0 : errno;
    return weir_settling_check_file_(&about);
}

/* As weir_settling_reason, for EPERM. */
static inline void weir_settling_explain_(const char *path, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? path : ".";
    const int length = slash && slash != path ? (int)(slash - path) : 1;
    struct stat folder;

    if (weir_settling_stat_folder_(path, &folder) != 0 ||
        (!weir_settling_is_shared_(&folder) && weir_settling_trusts_(folder.st_uid)))
        (void)snprintf(text, size,
                       "it, or its file .lock or .new, belongs to another user, who can change it");
    else if (weir_settling_is_shared_(&folder))
        (void)snprintf(text, size,
                       "its folder %.*s (mode %04o) lets others replace files: chmod go-w, or +t",
                       length, name, (unsigned)folder.st_mode & 07777u);
    else
        (void)snprintf(text, size,
                       "its folder %.*s belongs to user %u, who is neither root nor the host's",
                       length, name, (unsigned)folder.st_uid);
}

/* The reason of an error of these functions, for people: a clause about the file `path`. `text`
 * takes it, of `size` bytes; returns `text`. */
static inline const char *weir_settling_reason(const char *path, int error, char *text, size_t size)
{
    if (error == EPERM)
        weir_settling_explain_(path, text, size);
    else
        (void)snprintf(text, size, "%s",
                       error == ELOOP ? "it is a symbolic link, which another user may have made"
                       : error == ENOTSUP ? "it is no regular file"
                       : error == EBUSY   ? "another source or host has the position"
                       : error == EINVAL  ? "it has other bytes than were saved"
                                          : strerror(error));
    return text;
}

/* Opens a state file for reading; `*out_stream` is NULL when it is not there. Never waits. Returns
 * 0 or an errno, as weir_settling_check. The caller closes the stream. */
static inline int weir_settling_open(const char *path, FILE **out_stream)
{
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error;

    *out_stream = NULL;
    if (descriptor < 0)
        return errno == ENOENT ? 0 : errno == ENXIO ? ENOTSUP : errno;
    error = weir_settling_check_folder_(path);
    if (error == 0)
        error = weir_settling_check_open_(descriptor);
    if (error == 0) {
        *out_stream = fdopen(descriptor, "r");
        error = *out_stream ? 0 : errno;
    }
    if (error != 0)
        (void)close(descriptor);
    return error;
}

/* Returns owned: the path of a file beside this one; NULL: memory is out. */
static inline char *weir_settling_beside_(const char *path, const char *end)
{
    const size_t length = strlen(path), more = strlen(end) + 1;
    char *beside = (char *)malloc(length + more);

    if (!beside)
        return NULL;
    memcpy(beside, path, length);
    memcpy(beside + length, end, more);
    return beside;
}

/* Opens the file of a lock, and makes it when it is not there. -1: errno. */
static inline int weir_settling_open_lock_(const char *path)
{
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int error = weir_settling_check(path);
    int descriptor = error == 0 ? open(path, flags, 0600) : -1;

    if (descriptor < 0) {
        errno = error != 0 ? error : errno;
        return -1;
    }
    error = weir_settling_check_open_(descriptor); /* it may be another one by now */
    if (error == 0)
        return descriptor;
    (void)close(descriptor);
    errno = error;
    return -1;
}

/*
 * Reserves a position, however its path is spelt: call it in `open`, before the file is read. The
 * lock is one of the file PATH.lock, which stays, and ends with the process. `*out_lock` is for
 * weir_settling_unlock, and -1 after an error. Returns 0 or an errno, as weir_settling_check for
 * PATH.lock; EBUSY: another source has the position, of another host, or of this one, where it may
 * still end after a reload, and saves last. ENOLCK: the file system has no locks.
 */
static inline int weir_settling_lock(const char *path, int *out_lock)
{
    char *beside = weir_settling_beside_(path, ".lock");
    int error = 0;

    *out_lock = -1;
    if (!beside)
        return ENOMEM;
    *out_lock = weir_settling_open_lock_(beside);
    if (*out_lock < 0 || flock(*out_lock, LOCK_EX | LOCK_NB) < 0)
        error = errno == EWOULDBLOCK ? EBUSY : errno;
    free(beside);
    if (error == 0)
        return 0;
    if (*out_lock >= 0)
        (void)close(*out_lock);
    *out_lock = -1;
    return error;
}

/* Call it in `close`, after the last save. -1 is allowed. */
static inline void weir_settling_unlock(int lock)
{
    if (lock < 0)
        return;
    (void)flock(lock, LOCK_UN); /* a child that has not called exec yet has the descriptor, too */
    (void)close(lock);
}

#define WEIR_SETTLING_NUMBERS_ 6u /* of a place in a file: it, device, inode, end, size, hash */

/* Reads numbers of digits, at most UINT64_MAX each and without zeros in front, with a blank between
 * two of them and a line end behind the last. False: it is another text. */
static inline bool weir_settling_parse_(const char *text, size_t size, uint64_t *numbers,
                                        unsigned count)
{
    size_t at = 0;

    for (unsigned i = 0; i < count; i++) {
        const char end = i + 1 < count ? ' ' : '\n';
        const size_t first = at;

        numbers[i] = 0;
        for (; at < size && text[at] >= '0' && text[at] <= '9'; at++) {
            const uint64_t digit = (uint64_t)(text[at] - '0');

            if (text[first] == '0' && at > first)
                return false;
            if (numbers[i] > (UINT64_MAX - digit) / 10)
                return false;
            numbers[i] = numbers[i] * 10 + digit;
        }
        if (at == first || at == size || text[at++] != end)
            return false;
    }
    return at == size;
}

/* Reads the numbers of a position. Returns 0 or an errno, as weir_settling_check; EINVAL: it has
 * other bytes. `*out_is_there` false: it has no file, or an error came. */
static inline int weir_settling_read_(const char *path, uint64_t *numbers, unsigned count,
                                      bool *out_is_there)
{
    char text[WEIR_SETTLING_NUMBERS_ * 21u + 1]; /* more than a position takes */
    size_t size;
    FILE *stream;
    int error = weir_settling_open(path, &stream);

    *out_is_there = false;
    if (!stream)
        return error;
    size = fread(text, 1, sizeof text, stream);
    if (ferror(stream))
        error = EIO;
    else if (size == sizeof text || !weir_settling_parse_(text, size, numbers, count))
        error = EINVAL;
    (void)fclose(stream);
    *out_is_there = error == 0;
    return error;
}

/* Reads a place; 0 when the file is not there. Returns 0 or an errno, as weir_settling_check;
 * EINVAL: it has other bytes than weir_settling_save writes. */
static inline int weir_settling_load(const char *path, uint64_t *out_place)
{
    uint64_t place = 0;
    bool is_there;
    int error = weir_settling_read_(path, &place, 1, &is_there);

    *out_place = is_there ? place : 0;
    return error;
}

/* Syncs the folder of a file: then the file's name is on the disk. */
static inline int weir_settling_sync_folder_(const char *path)
{
    char *folder = weir_settling_folder_(path);
    int descriptor, error;

    if (!folder)
        return ENOMEM;
    descriptor = open(folder, O_RDONLY | O_CLOEXEC);
    error = descriptor < 0 || fsync(descriptor) < 0 ? errno : 0;
    free(folder);
    if (descriptor >= 0)
        (void)close(descriptor);
    return error;
}

/* Makes a new file. What a crash has left there, or a link that another user has put there, goes;
 * anything else stays. -1: errno. */
static inline int weir_settling_create_(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int descriptor = open(path, flags, 0644);
    struct stat about;

    if (descriptor >= 0 || errno != EEXIST || lstat(path, &about) < 0)
        return descriptor;
    if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
        errno = weir_settling_kind_(&about);
        return -1;
    }
    return unlink(path) < 0 ? -1 : open(path, flags, 0644);
}

/* Writes bytes to a new file, and syncs it. After an error the file is not there. */
static inline int weir_settling_write_(const char *path, const char *bytes, size_t size)
{
    int descriptor = weir_settling_create_(path);
    int error = descriptor < 0 ? errno : 0;

    while (error == 0 && size > 0) {
        ssize_t written = write(descriptor, bytes, size);

        if (written < 0 && errno != EINTR)
            error = errno;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    if (error == 0 && fsync(descriptor) < 0)
        error = errno;
    if (descriptor >= 0 && close(descriptor) < 0 && error == 0)
        error = errno;
    if (descriptor >= 0 && error != 0)
        (void)unlink(path);
    return error;
}

/*
 * Replaces a file by these bytes: after a crash, also of the machine, it has the old ones or the
 * new ones. Borrows. Returns 0 or an errno, as weir_settling_check: then the file is as before. For
 * a position of any bytes; weir_settling_save is for a place.
 */
static inline int weir_settling_replace(const char *path, const char *bytes, size_t size)
{
    char *beside = weir_settling_beside_(path, ".new");
    int error = beside ? weir_settling_check(path) : ENOMEM;

    if (error == 0) {
        error = weir_settling_write_(beside, bytes, size);
        if (error == 0 && rename(beside, path) < 0)
            error = errno;
        if (error == 0)
            error = weir_settling_sync_folder_(path);
    }
    free(beside);
    return error;
}

/* Saves a place for weir_settling_load. Returns 0 or an errno: then the file is as before. */
static inline int weir_settling_save(const char *path, uint64_t place)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)place);

    return weir_settling_replace(path, text, (size_t)size);
}

/* --- a place in a file that may be renamed, replaced or truncated --------------------------- */

/*
 * Reads a place in the open file `descriptor`, and whether it is still the file of that place,
 * under whatever name. Returns 0: go on at `*out_place`, which is 0 without a position; or an
 * errno, as weir_settling_load. ESTALE: it is another file, or has been truncated or written again;
 * then the place is 0. `*out_identity` is for weir_settling_save_file.
 */
static inline int weir_settling_load_file(const char *path, int descriptor, uint64_t *out_place,
                                          struct weir_file_identity *out_identity)
{
    uint64_t at[WEIR_SETTLING_NUMBERS_];
    struct weir_file_identity was;
    bool is_there;
    int error, same;

    *out_place = 0;
    error = weir_file_identity_take(descriptor, 0, out_identity);
    if (error != 0)
        return error;
    error = weir_settling_read_(path, at, WEIR_SETTLING_NUMBERS_, &is_there);
    if (!is_there)
        return error;
    if (at[4] > WEIR_FINGERPRINT_MAX || at[4] > at[3])
        return EINVAL;
    was.device = at[1];
    was.inode = at[2];
    was.print.end = at[3];
    was.print.size = (uint32_t)at[4];
    was.print.hash = at[5];
    same = weir_file_identity_compare(descriptor, &was);
    if (same <= 0)
        return same < 0 ? errno : ESTALE;
    *out_place = at[0];
    out_identity->print = was.print;
    return 0;
}

/*
 * Saves a place in the open file `descriptor`, up to which it was read and settled. Returns 0 or an
 * errno: then the position is as before. ESTALE: what was read is no longer in the file, which was
 * truncated or written again: read it from its start, after weir_file_identity_take.
 */
static inline int weir_settling_save_file(const char *path, int descriptor, uint64_t place,
                                          struct weir_file_identity *identity)
{
    char text[6 * 21 + 1];
    int size;

    if (place != identity->print.end && !weir_fingerprint_move(descriptor, place, &identity->print))
        return ESTALE;
    size = snprintf(text, sizeof text, "%llu %llu %llu %llu %llu %llu\n", (unsigned long long)place,
                    (unsigned long long)identity->device, (unsigned long long)identity->inode,
                    (unsigned long long)identity->print.end,
                    (unsigned long long)identity->print.size,
                    (unsigned long long)identity->print.hash);
    return weir_settling_replace(path, text, (size_t)size);
}

#endif

#endif
