/* SPDX-License-Identifier: MIT */
/*
 * A host with fewer descriptors than files.
 *
 * A file that is read to its end, and whose lines are settled, needs no descriptor: a look at its
 * name shows whether it has changed. So files that rest give theirs to those that wait, check by
 * check, as long as a check lacks some.
 */
#include "follower.h"

#include <errno.h>

#include "waiting.h"

/* Descriptors of a source beside its files: for inotify, a position and its folder, a folder of a
 * glob, and a file that is looked at. */
#define BASE_DESCRIPTORS 6u
#define SHARE_STEP 64u

void follower_lacks(struct weir_self *self, struct follower *follower, const char *path, int error)
{
    follower->is_short = follower->is_restless = true;
    waiting_log(self, &follower->is_short_logged, path, error);
}

static bool set_share(struct follower *follower, uint32_t files)
{
    if (weir_set_descriptors(follower->self, BASE_DESCRIPTORS + files) != 0)
        return false;
    follower->share = files;
    return true;
}

bool follower_may_open(struct follower *follower)
{
    return follower->open < follower->share || set_share(follower, follower->open + SHARE_STEP) ||
           set_share(follower, follower->open + 1);
}

void follower_trim_share(struct follower *follower)
{
    if (follower->share > follower->open + 2 * SHARE_STEP)
        (void)set_share(follower, follower->open + SHARE_STEP);
}

void follower_park(struct follower *follower)
{
    for (struct followed *file = follower->first; file; file = file->next)
        follower->open -= followed_park(file);
}

bool follower_wake(struct weir_self *self, struct follower *follower, struct followed *file)
{
    int error;

    if (file->descriptor >= 0 || followed_rests(file))
        return file->descriptor >= 0;
    error = follower_may_open(follower) ? follower_reopen(follower, file) : EMFILE;
    if (weir_is_short(error))
        follower_lacks(self, follower, file->path, error);
    return error == 0;
}
