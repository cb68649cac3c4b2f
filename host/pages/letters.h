/*
 * pages/letters.h - dead letters, for people and for programs; and sending them again.
 *
 * PATH is the path of a pool or the name of a source. As overview.h in everything else.
 */
#ifndef HOST_PAGES_LETTERS_H
#define HOST_PAGES_LETTERS_H

#include "actor/replay.h"
#include "host/pages/overview.h"

#define LETTERS_LISTED_MAX 1000 /* of one pool in one answer; the oldest */

/* How many each pool and source has. */
void letters_summary(const struct overview *overview, bool for_people, FILE *stream);

/* Those of one; false: there is none of that path, and nothing was written. */
bool letters_list(const struct overview *overview, const char *path, bool for_people, FILE *stream);

/* Sends those of one again; false likewise. */
bool letters_replay(const struct overview *overview, const char *path, bool for_people,
                    FILE *stream);

#endif
