/*
 * actor/backoff.h - how often something has failed, and how long it waits before it opens again.
 *
 * The same rule for workers, sources, managers and pools of pools: `max` failures within `within`
 * are replaced at once. Each further failure, and each failed open, waits twice as long as the one
 * before, up to the maximum. Both begin again when it has lived for `within` without a failure:
 * docs/decisions/087. Zero is a valid start. Used by one owner.
 */
#ifndef ACTOR_BACKOFF_H
#define ACTOR_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

struct restart;

struct backoff {
    uint32_t failures; /* that count */
    uint64_t window_start_ns;
    uint64_t pause_ms;      /* of the last wait; 0: it has not waited */
    uint64_t well_since_ns; /* open since then without a failure; 0: not open */
};

/* It has failed, or could not be opened. True: more often than `restart` allows. */
bool backoff_fail(struct backoff *backoff, const struct restart *restart, uint64_t now_ns);

/* Whether a failure now would be one more than that. Changes nothing. */
bool backoff_is_last(const struct backoff *backoff, const struct restart *restart, uint64_t now_ns);

/* How long it waits now. */
uint64_t backoff_next_ms(struct backoff *backoff, const struct restart *restart);

/* It is open at `now_ns`; only the first call after a failure counts. */
void backoff_open(struct backoff *backoff, uint64_t now_ns);

#endif
