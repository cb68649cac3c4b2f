/* SPDX-License-Identifier: MIT */
/*
 * listing.h - the names in a folder: all of them, or an error. A folder that cannot be read to its
 * end is not shorter, and its files are not gone.
 *
 * Life: listing_open .. listing_close. Not synchronised.
 */
#ifndef LISTING_H
#define LISTING_H

#include <dirent.h>
#include <glob.h>

struct listing;

/* Returns owned; NULL: errno. */
struct listing *listing_open(const char *folder);
/* The next entry, borrowed; NULL: there is no more. */
struct dirent *listing_next(struct listing *listing);
/* NULL is allowed. */
void listing_close(struct listing *listing);

/* Makes glob(3) list folders so, with GLOB_ALTDIRFUNC, which wants gl_stat and gl_lstat, too. */
void listing_for_glob(glob_t *out);

#endif
