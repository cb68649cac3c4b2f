/*
 * pages/member_list.h - the workers of the pools, one line each: state, backlog, restarts.
 *
 * Any thread.
 */
#ifndef HOST_PAGES_MEMBER_LIST_H
#define HOST_PAGES_MEMBER_LIST_H

#include "host/pages/overview_figures.h"

/* Writes the workers of the pool `path` and of the pools in it; NULL: of all pools. False: there is
 * no such pool, and nothing was written. */
bool member_list_write(const struct overview *overview, const char *path, bool for_people,
                       FILE *stream);

/* Writes the first takers that wait for a worker of a pool of the present settings, as the array
 * `takers`. assembly->lock is held. */
struct json;
void member_list_write_takers_locked(const struct overview *overview, const char *path,
                                     struct json *json);

#endif
