/* SPDX-License-Identifier: MIT */
/*
 * config/pattern.h - finds the files that match a pattern with `*`, `?` and `[...]`, with bounded
 * effort.
 *
 * Each part between slashes may have wildcards; a leading dot is matched by a dot alone. Unlike
 * glob(3) it gives up: a pattern may lead through every folder of a machine. Not synchronised.
 */
#ifndef CONFIG_PATTERN_H
#define CONFIG_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define PATTERN_LOOKS_MAX 20000u /* names: far more than one folder has to include */

/* Paths, sorted. Life: pattern_find .. pattern_finish. */
struct pattern_matches {
    char **paths; /* owned */
    size_t count;
    char *unread; /* owned; NULL, or the first path of which is unknown what is there */
    int error;    /* its errno */
};

/*
 * Finds the files that match `pattern`, or the file of that name when it is no pattern. `*looks` is
 * the number of names that may still be compared; it falls. WEIR_EINVALID: the number was too
 * small. WEIR_ENOMEM. After a failure `out` needs no pattern_finish.
 *
 * A folder that cannot be read is not empty: `unread` names it, and the matches lack what is there.
 */
int pattern_find(const char *pattern, uint32_t *looks, struct pattern_matches *out);
void pattern_finish(struct pattern_matches *matches);

#endif
