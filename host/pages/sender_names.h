/* SPDX-License-Identifier: MIT */
/*
 * pages/sender_names.h - the names of senders: a source, a pool, or a worker as `pool#3`.
 *
 * Only actors of the configuration in force have a name; former workers have none. Life: init ..
 * finish. Not synchronised.
 */
#ifndef HOST_PAGES_SENDER_NAMES_H
#define HOST_PAGES_SENDER_NAMES_H

#include "host/pages/overview_figures.h"

struct sender_name;

struct sender_names {
    struct sender_name *names; /* by PID */
    uint32_t count;
};

/* For at most `max` senders. Without memory no sender gets a name. */
void sender_names_init(struct sender_names *names, uint32_t max);
void sender_names_finish(struct sender_names *names);

/* Adds a sender; at most `max` times. 0 is ignored. */
void sender_names_want(struct sender_names *names, weir_pid pid);

/* Finds the names of all senders that were added; assembly->lock is held. */
void sender_names_find_locked(struct sender_names *names, const struct overview *overview);

/* After that: the name; NULL: it has none. Borrowed until finish. */
const char *sender_names_get(const struct sender_names *names, weir_pid pid);

#endif
