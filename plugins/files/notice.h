/* SPDX-License-Identifier: MIT */
/*
 * notice.h - what has changed in folders, by inotify: a check need not look at files that rest.
 *
 * Blind where inotify does not see all changes: on file systems that other machines write, and
 * where the kernel has no watch left. Then each check looks at all files, as it does without
 * inotify.
 *
 * Life: notice_init .. notice_finish. Not synchronised.
 */
#ifndef NOTICE_H
#define NOTICE_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/plugin.h>

struct notice {
    int descriptor; /* owned; -1 = none */
    bool is_blind;  /* not every folder is watched */
    bool has_new;   /* a folder is watched that was not before: it may have changed just before */
    struct notice_folder *folders; /* owned, by their watch */
    size_t count;
};

void notice_init(struct notice *notice);
void notice_finish(struct notice *notice);

/* Before a check of all files: nothing is known to be unwatched. */
void notice_begin(struct notice *notice);
/* Watches the folders in which the matches of a glob come and go, and the links among them. */
void notice_glob(struct notice *notice, const char *glob);
/* Watches the files of a folder; NULL: it is not known. */
void notice_folder(struct notice *notice, const char *path);

/* Takes what has happened. True: names have changed, or it is not known what has; false: each file
 * that was written is given to `written`, by its path, which is borrowed. */
bool notice_read(struct notice *notice, void (*written)(void *context, const char *path),
                 void *context);

#endif
