/* SPDX-License-Identifier: MIT */
/*
 * dispatch/futility.h - whether a thread has nothing to run but senders that find no room.
 *
 * Not synchronised: the thread's own.
 */
#ifndef DISPATCH_FUTILITY_H
#define DISPATCH_FUTILITY_H

#include <stdbool.h>
#include <stdint.h>

#define FUTILITY_LONG_NS 150000u /* more than it takes to find work that is worth a theft */

struct futility {
    uint32_t turns;    /* the last ones in a row that were refused */
    uint64_t since_ns; /* a whole round was refused then, and all turns since; 0: no such time */
};

/* After each turn. */
void futility_count(struct futility *futility, bool was_refused);

/* True when a thread with `queued` entries was refused in a whole round. Then counts another. */
bool futility_is_a_round(struct futility *futility, uint32_t queued);

/* False: the last turn was not refused, so that there is no round. */
static inline bool futility_is_any(const struct futility *futility)
{
    return (futility->turns | futility->since_ns) != 0;
}

/* Of a round that was refused, the thread found no other work. */
void futility_goes_on(struct futility *futility, uint64_t now_ns);

/* True when it has been so for FUTILITY_LONG_NS. */
bool futility_is_long(const struct futility *futility, uint64_t now_ns);

#endif
