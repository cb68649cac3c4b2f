/*
 * pages/letters.h - dead letters, for people and for programs; and sending them again.
 *
 * PATH is the path of a pool or the name of a source. As overview.h in everything else.
 */
#ifndef HOST_PAGES_LETTERS_H
#define HOST_PAGES_LETTERS_H

#include "actor/replay.h"
#include "host/pages/overview_figures.h"

#define LETTERS_LISTED_MAX 1000 /* of one pool in one answer; the oldest */
#define LETTERS_DELETED_MAX 64  /* by their numbers, in one request */

/* How many each pool and source has. */
void letters_summary(const struct overview *overview, bool for_people, FILE *stream);

/* Those of one behind the letter `after`; false: there is none of that path, and nothing was
 * written. */
bool letters_list(const struct overview *overview, const char *path, uint64_t after,
                  bool for_people, FILE *stream);

/* Writes only the numbers of the letters, one in a line. */
bool letters_numbers(const struct overview *overview, const char *path, uint64_t after,
                     FILE *stream);

/* Writes the payload of one letter as it is. WEIR_EUNKNOWN: no such path or letter,
 * WEIR_EUNSUPPORTED: its payload was not kept, WEIR_ENOMEM. */
int letters_payload(const struct overview *overview, const char *path, uint64_t number,
                    FILE *stream);

/* Deletes letters of one: those of these numbers, or all when `numbers` is NULL. WEIR_EUNKNOWN: no
 * such path. */
int letters_delete(const struct overview *overview, const char *path, const uint64_t *numbers,
                   uint32_t count, uint32_t *out_deleted);

/* Replays the letters of one pool or source; false: there is none of that path. */
bool letters_replay(const struct overview *overview, const char *path, bool for_people,
                    FILE *stream);

#endif
