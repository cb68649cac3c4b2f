/*
 * plugin/trust.h - who else could change what a path leads to.
 *
 * A path is safe when each folder and each link on its way, and the file at its end, belongs to
 * root or to the user of this process, and nobody else may write to it. A folder with the sticky
 * bit, such as /tmp, is safe although everybody may write to it: its entries are their owners'.
 * The owner of / counts as root: in a user namespace root may have no name.
 *
 * The way is walked by descriptors, link after link, so that what was looked at is what is there.
 * Not synchronised; keeps nothing.
 */
#ifndef HOST_PLUGIN_TRUST_H
#define HOST_PLUGIN_TRUST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/plugin/problem.h"

/* In order of severity: the first of the most severe is reported. */
enum trust_flaw {
    TRUST_SAFE = 0,
    TRUST_FOREIGN,  /* belongs to somebody else, who may replace it */
    TRUST_WRITABLE, /* group or others may write to it */
};

struct trust {
    enum trust_flaw flaw;
    uid_t owner;          /* of `where` */
    char where[PATH_MAX]; /* what has the flaw */
};

/* Looks at the way to `path`. 0, or a negative errno when it does not lead to anything. */
int trust_look(const char *path, struct trust *out);

/* True for what must not be obeyed: we are root, and others may write to it. */
bool trust_forbids(const struct trust *trust);

/* The reason, as a clause without full stop, cut at `size`; "" for TRUST_SAFE. */
void trust_describe(const struct trust *trust, char *text, size_t size);

/* Refuses a plugin that root is not to load, with a reason: WEIR_ENOTALLOWED. What is not there is
 * told when it is opened. */
int trust_check(const char *plugin, struct problem *problem);

#endif
