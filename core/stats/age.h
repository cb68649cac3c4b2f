/*
 * stats/age.h - how long the first in a queue has waited, found out by those who look, at no cost
 * for those who send.
 *
 * Who looks notes how many had been admitted, and when: whatever of these still waits at a later
 * look is at least as old as the note. So the answer is a lower bound: what came since the last
 * look is not known to be old, and what came between two looks counts from the second. A few looks
 * are remembered; when they are too many, the one is forgotten that leaves the smallest gap. So the
 * answer falls short by at most the time between two looks, or a third of itself.
 *
 * Not synchronised: the caller's lock.
 */
#ifndef STATS_AGE_H
#define STATS_AGE_H

#include <stdint.h>

#define AGE_LOOKS 8 /* then a gap is at most 2/7 of what all of them span */

struct age {
    uint32_t count;
    uint64_t admitted[AGE_LOOKS]; /* rising */
    uint64_t seen_ns[AGE_LOOKS];
};

/*
 * One look: `admitted` in all by `now_ns`, of which `taken` have left since. Answers how long the
 * first that waits has done so at least; 0 when it was not seen before, or nothing waits.
 */
uint64_t age_look(struct age *age, uint64_t admitted, uint64_t taken, uint64_t now_ns);

#endif
