/* SPDX-License-Identifier: MIT */
/*
 * portrait.h - the state that a reload may change, as lines of text that can be compared.
 *
 * Structure and figures of each pool and source, leftovers of others, dispatchers, threads,
 * descriptors, slots, users of the settings. Nothing else changes the host meanwhile.
 */
#ifndef TESTS_UNIT_RELOAD_PORTRAIT_H
#define TESTS_UNIT_RELOAD_PORTRAIT_H

#include "unit/reload/hosted.h"

enum portrait_detail {
    PORTRAIT_SHAPE,    /* the content of the file: equal for two hosts of one file */
    PORTRAIT_IDENTITY, /* and identities: PIDs, addresses, generations, counts */
};

/* Returns owned. */
char *portrait_draw(struct hosted *hosted, enum portrait_detail detail);

/* True when a reload is over: no member leaves any more, and ended parts are freed. */
bool portrait_is_settled(struct hosted *hosted);

/* True when `after` has the lines of `before`, and no more descriptors or threads: the earlier
 * portrait may show one that was about to close or end. */
bool portrait_matches(const char *before, const char *after);

/* Prints the first line in which two do not match. */
void portrait_print_difference(const char *before, const char *after);

#endif
