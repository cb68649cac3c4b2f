/* SPDX-License-Identifier: MIT */
#include "unreadable.h"

#include <stdlib.h>

bool unreadable_is_known(struct unreadable **list, const struct stat *about, int error)
{
    struct unreadable *known = *list;

    while (known && (known->inode != about->st_ino || known->device != about->st_dev))
        known = known->next;
    if (known && known->error == error) {
        known->is_there = true;
        return true;
    }
    if (!known) {
        known = malloc(sizeof *known);
        if (!known)
            return false;
        *known = (struct unreadable){ about->st_dev, about->st_ino, 0, true, *list };
        *list = known;
    }
    known->error = error;
    known->is_there = true;
    return false;
}

void unreadable_forget(struct unreadable **list, bool all)
{
    struct unreadable **link = list;

    while (*link) {
        struct unreadable *known = *link;

        if (known->is_there && !all) {
            known->is_there = false;
            link = &known->next;
        } else {
            *link = known->next;
            free(known);
        }
    }
}
