/* SPDX-License-Identifier: MIT */
/*
 * pages/holders.h - the names of the actors that hold leases or wait for one.
 */
#ifndef HOST_PAGES_HOLDERS_H
#define HOST_PAGES_HOLDERS_H

#include "host/pages/overview_figures.h"

#define HOLDER_NAME_SIZE 160

/* All workers of the host, by PID. */
struct holders {
    struct holder *items; /* owned; sorted */
    size_t count;
};

/* assembly->lock is held. Without memory some are left out, and have no name. */
void holders_read_locked(const struct overview *overview, struct holders *out);
void holders_finish(struct holders *holders);

/* Writes `users#3`; `outside` for PID 0, and `pid N` for an actor that is not in the file. */
void holders_name(const struct holders *holders, weir_pid pid, char name[HOLDER_NAME_SIZE]);

#endif
