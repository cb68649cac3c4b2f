/*
 * A host with fewer descriptors than files.
 *
 * A file that is read to its end, and whose lines are settled, needs no descriptor: a look at its
 * name shows whether it has changed. So files that rest give theirs to those that wait, check by
 * check, as long as a check lacks some.
 */
#include "follower.h"

#include <errno.h>
#include <sys/resource.h>

#include "waiting.h"

/* Descriptors that are left to the rest of the host: a position, a look into a folder, and other
 * plugins. */
#define SPARE 16u

void follower_lacks(struct weir_self *self, struct follower *follower, const char *path, int error)
{
    follower->is_short = follower->is_restless = true;
    waiting_log(self, &follower->is_short_logged, path, error);
}

bool follower_may_keep(const struct followed *file)
{
    struct rlimit limit;

    /* The kernel gives the lowest number that is free. */
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < 2 * SPARE ||
           (rlim_t)file->descriptor < limit.rlim_cur - SPARE;
}

void follower_park(struct follower *follower)
{
    for (struct followed *file = follower->first; file; file = file->next)
        (void)followed_park(file);
}

bool follower_wake(struct weir_self *self, struct follower *follower, struct followed *file)
{
    int error;

    if (file->descriptor >= 0 || followed_rests(file))
        return file->descriptor >= 0;
    error = follower_reopen(file);
    if (weir_is_short(error))
        follower_lacks(self, follower, file->path, error);
    return error == 0;
}
