/* SPDX-License-Identifier: MIT */
/*
 * control/reserve.h - descriptors that the host keeps for itself.
 *
 * Plugins may use up the descriptors of the process. So the host holds some that are open for
 * nothing, and closes them when it needs others: to accept a client of the control socket, to carry
 * out a reload, and for what its parts save while it ends. A descriptor that is closed so may be
 * taken by a plugin, which costs one of the reserve until the plugin closes one.
 *
 * Life: reserve_init .. reserve_finish. Between them any thread.
 */
#ifndef HOST_CONTROL_RESERVE_H
#define HOST_CONTROL_RESERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A reload of a plugin takes the most: its file, the copy, and the process that tries it with its
 * pipes, beside some clients. */
#define RESERVE_MAX 16u

struct reserve {
    uint32_t size;                        /* const: of the array */
    _Atomic uint32_t loans;               /* by any thread: reserve_lend without its end */
    _Atomic int descriptors[RESERVE_MAX]; /* by any thread: owned by the one that exchanges it */
};

/* Takes a quarter of RLIMIT_NOFILE, and at most RESERVE_MAX. */
void reserve_init(struct reserve *reserve);
/* The descriptors that are left for plugins, to be asked when a host has its reserve, and nothing
 * else: all but those that are open, and those that the host opens later. 0: there is no limit. */
uint32_t reserve_rest(void);
/* Closes it. Twice, and of zeroed memory, is legal. */
void reserve_finish(struct reserve *reserve);

/* Closes one descriptor. False: there is none. */
bool reserve_give(struct reserve *reserve);
/* Closes all, until as many calls of reserve_end_loan. NULL is allowed. */
void reserve_lend(struct reserve *reserve);
/* NULL is allowed. */
void reserve_end_loan(struct reserve *reserve);
/* Fills up what is missing, if nothing is lent. False: the process has no descriptor left. */
bool reserve_refill(struct reserve *reserve);

#endif
