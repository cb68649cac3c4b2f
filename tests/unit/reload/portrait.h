/*
 * portrait.h - everything that a reload may change, as lines of text: what differs can be seen.
 *
 * Structure and figures of each pool and source, what is left of others, dispatchers, threads,
 * descriptors, slots, who holds the settings. Nobody else changes the host meanwhile.
 */
#ifndef TESTS_UNIT_RELOAD_PORTRAIT_H
#define TESTS_UNIT_RELOAD_PORTRAIT_H

#include "unit/reload/hosted.h"

enum portrait_detail {
    PORTRAIT_SHAPE,    /* what the file says: equal for two hosts of one file */
    PORTRAIT_IDENTITY, /* and who: PIDs, addresses, generations, counts */
};

/* Returns owned. */
char *portrait_draw(struct hosted *hosted, enum portrait_detail detail);

/* True when a reload is over for all: nobody leaves any more, and what has gone is forgotten. */
bool portrait_is_settled(struct hosted *hosted);

/* FNV-1a of a portrait. */
uint64_t portrait_hash(const char *portrait);

/* Prints the first line in which two differ. */
void portrait_print_difference(const char *before, const char *after);

#endif
