/* SPDX-License-Identifier: MIT */
/*
 * follower.h - finds the files that `tail` follows: by globs, by a bookmark, and after a rotation.
 *
 * Life: follower_init .. follower_finish. Not synchronised.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include "followed.h"
#include "notice.h"
#include "own.h"
#include "unreadable.h"

#include <weir/plugin.h>

/* The treatment of a file that does not match its position: truncated, replaced, or gone. */
enum on_change {
    ON_CHANGE_RESTART, /* it is read from its start */
    ON_CHANGE_SKIP,    /* only lines that are appended later are read */
    ON_CHANGE_STOP,    /* the source fails */
};

struct follower_rules {
    const struct weir_list *paths;   /* borrowed: globs */
    const struct weir_list *exclude; /* borrowed: globs of files that are left out */
    const char *position;            /* borrowed: a file that is never read; NULL = none */
    bool from_end;                   /* of the first check */
    uint64_t rotate_wait;            /* milliseconds */
    uint32_t window;                 /* the most lines of a file behind its position */
    enum on_change on_change;
    bool ends; /* no file appears later: a glob without a match is a fault */
};

/* A file of the bookmark that cannot be reached now: its entry stays in the bookmark. */
struct missing {
    struct bookmark_entry entry; /* owned */
    bool is_logged;
    struct missing *next;
};

#define FOLLOWER_FEW 64u /* buckets that need no memory: to follow a file cannot fail */

struct follower {
    struct follower_rules rules; /* `from_end` only until the first check; else const */
    bool has_looked;             /* the first check is over */
    bool stops;                  /* a file has changed, and `on_change` says so */
    struct followed *first;      /* owned; an older file of one name is before a newer one */
    struct followed **last;      /* the end of that list; NULL = it is empty */
    struct followed **buckets;   /* owned, or `few`; by inode, a power of two of them */
    struct followed *few[FOLLOWER_FEW];
    uint32_t bucket_count;
    uint32_t count;                /* files */
    uint32_t former;               /* of these: that had another name at the last check */
    struct followed *chosen;       /* the last one; NULL = none */
    struct unreadable *unreadable; /* owned */
    struct missing *missing;       /* owned, in the order of the bookmark */
    struct notice notice;          /* of the folders of all files */
    uint64_t full_ms;              /* of the last check of all files */
    uint64_t checks;               /* of all files */
    bool is_restless;              /* the next check looks at all files, whatever was noticed */
    struct own own;                /* of this check */
    uint64_t now_ms;               /* of the last check */
    bool is_short;                 /* the last check lacked descriptors or memory */
    bool is_short_logged;          /* since the first of such checks */
    struct weir_self *self;        /* of this callback */
    uint32_t open;                 /* files with a descriptor */
    uint32_t share;                /* files that descriptors were granted for */
    bool changed;                  /* other files than before the last check */
    uint64_t rotations;
    uint64_t truncations;
};

void follower_init(struct follower *follower, const struct follower_rules *rules);
void follower_finish(struct follower *follower);
/* Follows no file. */
void follower_clear(struct follower *follower);

/* Looks for new files, renamed ones, and growth; at files and folders without a change only each
 * half minute, where inotify sees them. True when other files are followed than before. */
bool follower_look(struct weir_self *self, struct follower *follower, uint64_t now_ms);
/* The next file that has more, by turns; a file that took the place of another one comes after it.
 * NULL: there is none. */
struct followed *follower_choose(struct follower *follower);
/* True when a file is gone and grows no more: its last line needs no end. */
bool follower_is_ending(const struct follower *follower, const struct followed *file);

/* NULL: it is not followed. */
struct followed *follower_find(const struct follower *follower, dev_t device, ino_t inode);
/* Follows this one, too. Takes it. */
void follower_add(struct follower *follower, struct followed *file);
const char *follower_change_word(enum on_change on_change);

/* --- matching.c: the files that `paths` match ------------------------------------------------- */

/* Follows those that are new, and those that have a new name. */
void follower_match(struct weir_self *self, struct follower *follower);

/* --- recall.c: the bookmark of the files ------------------------------------------------------ */

/* Begins a bookmark with the entries of all files. WEIR_ENOMEM. */
int follower_write(const struct follower *follower, struct bookmark *bookmark);
/*
 * Follows the files of a bookmark, also under another name; logs files that are gone, or changed. A
 * file that cannot be reached is neither: it is tried again at each check. WEIR_ENOMEM;
 * WEIR_EINVALID: it is no bookmark; WEIR_EREJECTED, with a reason: a file has changed, and
 * `on_change` is STOP.
 */
int follower_read(struct weir_self *self, struct follower *follower,
                  const struct bookmark *bookmark);
/* Tries the files again that could not be reached. As follower_read. */
int follower_recall(struct weir_self *self, struct follower *follower);
/* 1 when a file that was just opened is one that could not be reached: it goes on at its position.
 * 0: it is none; -1: it may be, and cannot be read: errno. */
int follower_claim(struct follower *follower, struct followed *file);
/* Opens a parked file again, also under another name in its folder. Returns 0 or an errno; ENOENT:
 * it is gone. */
int follower_reopen(struct follower *follower, struct followed *file);
void follower_forget_missing(struct follower *follower);

/* --- parking.c: a host with fewer descriptors than files -------------------------------------- */

/* This check lacks a descriptor or memory for a file: the next one tries again. Logs it once. */
void follower_lacks(struct weir_self *self, struct follower *follower, const char *path, int error);
/* False when the host has no descriptor for one more open file. */
bool follower_may_open(struct follower *follower);
/* Gives back what is not used. */
void follower_trim_share(struct follower *follower);
/* Closes the files that rest, for those that wait. */
void follower_park(struct follower *follower);
/* False: the file is parked, and rests, or cannot be opened now. */
bool follower_wake(struct weir_self *self, struct follower *follower, struct followed *file);

/* --- figures ---------------------------------------------------------------------------------- */

uint32_t follower_count(const struct follower *follower);
/* Bytes that were not read. */
uint64_t follower_behind(const struct follower *follower);

#endif
