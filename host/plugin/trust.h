/* SPDX-License-Identifier: MIT */
/*
 * plugin/trust.h - finds out whether other users could change the file that a path leads to.
 *
 * A path is safe when each folder and each link on it, and the file at its end, belongs to root or
 * to the user of this process, and no other user may write to it. A folder with the sticky bit,
 * such as /tmp, is safe although every user may write to it, since each entry belongs to its owner.
 * The owner of / counts as root: in a user namespace root may have no name.
 *
 * The path is walked by descriptors, link by link, so the checked entries are the ones that are
 * used. Not synchronised; keeps nothing.
 */
#ifndef HOST_PLUGIN_TRUST_H
#define HOST_PLUGIN_TRUST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/plugin/problem.h"

/* In order of severity. The first flaw of the highest severity is reported. */
enum trust_flaw {
    TRUST_SAFE = 0,
    TRUST_FOREIGN,  /* belongs to another user, who may replace it */
    TRUST_WRITABLE, /* group or others may write to it */
};

struct trust {
    enum trust_flaw flaw;
    uid_t owner;          /* of `where` */
    char where[PATH_MAX]; /* the path of the flaw */
};

/* Checks the path. 0, or a negative errno when it does not exist. */
int trust_look(const char *path, struct trust *out);

/* True when a configuration or plugin must be refused: we are root, and others may write to it. */
bool trust_forbids(const struct trust *trust);

/* The reason, as a clause without full stop, cut at `size`; "" for TRUST_SAFE. */
void trust_describe(const struct trust *trust, char *text, size_t size);

/* Refuses a plugin that root must not load: WEIR_ENOTALLOWED with the reason. A missing file
 * passes; opening it will fail. */
int trust_check(const char *plugin, struct problem *problem);

#endif
