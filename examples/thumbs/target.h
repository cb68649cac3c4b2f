/* SPDX-License-Identifier: MIT */
/*
 * target.h - the file of one thumbnail: its name, and how it is written as a whole.
 */
#ifndef TARGET_H
#define TARGET_H

#include <limits.h>
#include <stddef.h>

struct target {
    char path[PATH_MAX];
};

/*
 * The name of a picture's thumbnail: INTO/NAME.png, in which each / of the picture's path is %2F
 * and each % is %25: no two pictures share one, and none leaves the folder. NULL, or the reason why
 * there is none.
 */
const char *target_name(struct target *target, const char *into, const char *picture);

/* Writes the file so that nobody sees a part of the file. NULL, or the reason of the failure. */
const char *target_write(const struct target *target, const void *bytes, size_t size);

#endif
