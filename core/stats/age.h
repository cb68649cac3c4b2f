/* SPDX-License-Identifier: MIT */
/*
 * stats/age.h - estimates how long the first message in a queue has waited, at no cost for senders.
 *
 * Each reading records how many messages had been admitted, and when. Messages of this number that
 * still wait at a later reading are at least as old as the record. So the answer is a lower bound:
 * messages since the last reading have no known age, and messages between two readings count from
 * the second. A few readings are kept; when there are too many, the one whose removal leaves the
 * smallest gap is dropped. So the answer is too small by at most the time between two readings, or
 * a third of itself.
 *
 * Not synchronised: the caller has a lock.
 */
#ifndef STATS_AGE_H
#define STATS_AGE_H

#include <stdint.h>

#define AGE_READINGS 8 /* then a gap is at most 2/7 of the whole span */

struct age {
    uint32_t count;
    uint64_t admitted[AGE_READINGS]; /* increasing */
    uint64_t seen_ns[AGE_READINGS];
};

/*
 * Takes a reading: `admitted` in all by `now_ns`, of which `taken` have left since. Returns a lower
 * bound of the time that the first one has waited; 0 when it was not seen before, or none waits.
 */
uint64_t age_read(struct age *age, uint64_t admitted, uint64_t taken, uint64_t now_ns);

#endif
