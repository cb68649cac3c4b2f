/* SPDX-License-Identifier: MIT */
/*
 * place.h - the file of a queue on its file system: made, checked and locked before SQLite has it,
 * and compared with what its path names after each commit.
 *
 * Of one thread.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define PLACE_REASON_SIZE 256u /* the error of a start shows 47 bytes: what matters comes first */
#define PLACE_APPLICATION 0x57656972 /* "Weir", in the head of the file */
#define PLACE_FORMAT 2u

struct place_identity {
    dev_t device;
    ino_t inode;
};

struct place {
    char *path;     /* owned */
    char *wal;      /* owned: the path of the WAL */
    int descriptor; /* of the file; -1 = none */
    int lock;       /* of FILE.lock; -1 = none */
    bool is_new;    /* it was made, or is empty */
    struct place_identity file, log;
};

/*
 * Opens, or makes, the file and locks FILE.lock. Returns 0, or a negative errno: `reason` says why
 * not, and nothing is changed. -EINVAL: a symbolic link, no plain file, a file with two names, a
 * network file system, a file of another program or version; -EAGAIN: a file that another process
 * has, with its PID.
 */
int place_open(struct place *place, const char *path, char reason[PLACE_REASON_SIZE]);
void place_close(struct place *place);
/* Whether a file that is there can be one of queues, without a lock and without SQLite. Drops the
 * POSIX locks of the process on the file. Returns as place_open. */
int place_check(const char *path, char reason[PLACE_REASON_SIZE]);
/* The folder of the path; -1: errno. */
int place_open_folder(const char *path);

/* Notes the present WAL. False: there is none. */
bool place_note_log(struct place *place);
/* True when the path still names the file, or the WAL, that is open. */
bool place_has_file(const struct place *place);
bool place_has_log(const struct place *place);
/* Writes the names in the folder to the disk. */
bool place_sync_folder(const struct place *place);
/* Bytes that the file system has for this user. */
uint64_t place_free_bytes(const struct place *place);

#endif
