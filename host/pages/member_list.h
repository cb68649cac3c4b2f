/* SPDX-License-Identifier: MIT */
/*
 * pages/member_list.h - the workers of the pools, one line each: state, what they have in hand,
 * backlog, restarts, and the process that works for them.
 *
 * Any thread.
 */
#ifndef HOST_PAGES_MEMBER_LIST_H
#define HOST_PAGES_MEMBER_LIST_H

#include "host/pages/overview_figures.h"

/* The most workers in one answer: the lock is held while the kernel is asked about each process. */
#define MEMBER_LIST_MAX 1000u

struct member_list_part {
    const char *path; /* of a pool, with the pools in it; NULL: all pools */
    uint32_t from;    /* workers of a lower number are left out */
};

/* Writes workers, MEMBER_LIST_MAX at most. For each pool of which some are left out, its last line
 * or element says how many, and from which number on. False: there is no such pool, and nothing was
 * written. */
bool member_list_write(const struct overview *overview, const struct member_list_part *part,
                       bool for_people, FILE *stream);

/* Writes the first takers that wait for a worker of a pool of the present settings, as the array
 * `takers`. assembly->lock is held. */
struct json;
void member_list_write_takers_locked(const struct overview *overview, const char *path,
                                     struct json *json);

#endif
