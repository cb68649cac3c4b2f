/* SPDX-License-Identifier: MIT */
/*
 * pages/dead_letters.h - pages of dead letters, as tables and as JSON, and their replay.
 *
 * PATH is the path of a pool or the name of a source. For the rest see overview.h.
 */
#ifndef HOST_PAGES_DEAD_LETTERS_H
#define HOST_PAGES_DEAD_LETTERS_H

#include "host/pages/overview_figures.h"

#define DEAD_LETTERS_LISTED_MAX 1000 /* of one pool in one answer; the oldest first */
#define DEAD_LETTERS_DELETED_MAX 64  /* by their numbers, in one request */

/* Writes the number of dead letters of each pool and source. */
void dead_letters_page_summary(const struct overview *overview, bool for_people, FILE *stream);

/* The dead letters that are listed. */
struct dead_letters_wanted {
    uint64_t after;          /* those with larger numbers */
    const uint64_t *numbers; /* these alone; borrowed; not with `after` */
    uint32_t count;          /* of `numbers`; 0: all */
    bool has_payloads;       /* each with the start of its payload: dead/dead_payload.h */
};

/* Writes dead letters of `path`. WEIR_EUNKNOWN: there is no such path, or none of the numbers, and
 * nothing was written. */
int dead_letters_page_list(const struct overview *overview, const char *path,
                           const struct dead_letters_wanted *wanted, bool for_people, FILE *stream);

/* Writes the dead letters of all pools and sources, with their payloads. */
void dead_letters_page_all(const struct overview *overview, bool for_people, FILE *stream);

/* Writes only the numbers, one on each line. */
bool dead_letters_page_numbers(const struct overview *overview, const char *path, uint64_t after,
                               FILE *stream);

/* Writes the payload of one dead letter unchanged. WEIR_EUNKNOWN: no such path or number,
 * WEIR_EUNSUPPORTED: the payload was not kept, WEIR_ENOMEM. */
int dead_letters_page_payload(const struct overview *overview, const char *path, uint64_t number,
                              FILE *stream);

/* Deletes dead letters of `path`: those of these numbers, or all when `numbers` is NULL.
 * WEIR_EUNKNOWN: no such path. */
int dead_letters_page_delete(const struct overview *overview, const char *path,
                             const uint64_t *numbers, uint32_t count, uint32_t *out_deleted);

/* The message of the record `id` of the file of dead letters was accepted again: when the dead
 * letter is still one of `path`, it leaves. */
void dead_letters_page_sent_again(const struct overview *overview, const char *path,
                                  const char *id);

/* Replays the dead letters of one pool or source, and marks their records in the file; false: there
 * is no such path. */
bool dead_letters_page_replay(const struct overview *overview, const char *path, bool for_people,
                              FILE *stream);

#endif
