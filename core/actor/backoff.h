/* SPDX-License-Identifier: MIT */
/*
 * actor/backoff.h - decides about a restart after a failure: at once, after a pause, or never.
 *
 * The same rule for workers, sources, managers and pools of pools, by `struct restart`: `max`
 * failures within `within` are each followed by a restart at once. Each further failure, and each
 * failed open, is followed by a pause twice as long as the last one, up to the maximum. If `then`
 * says so, no restart follows beyond `max`. The count and the pause start at zero again after
 * `within` without a failure: docs/decisions/087. Zero is a valid start. Used by one owner.
 */
#ifndef ACTOR_BACKOFF_H
#define ACTOR_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

struct restart;

struct backoff {
    uint32_t failures; /* failures within the window */
    uint64_t window_start_ns;
    uint64_t pause_ms;      /* the last pause; 0: none yet */
    uint64_t well_since_ns; /* open without a failure since then; 0: not open */
};

enum backoff_answer {
    BACKOFF_AT_ONCE,  /* restart at once */
    BACKOFF_PAUSE,    /* restart after the pause */
    BACKOFF_STOP,     /* stay closed until an operator or the owner restarts it */
    BACKOFF_ESCALATE, /* likewise, and the pool above decides */
};

struct backoff_decision {
    enum backoff_answer answer;
    uint64_t pause_ms; /* 0 unless the answer is BACKOFF_PAUSE */
};

/* Counts a failure at `now_ns`, and returns the decision. `was_open`: it failed while it was open;
 * otherwise its open has failed. */
struct backoff_decision backoff_decide(struct backoff *backoff, const struct restart *restart,
                                       bool was_open, uint64_t now_ns);

/* Called when the actor is open, at `now_ns`; only the first call after a failure counts. */
void backoff_open(struct backoff *backoff, uint64_t now_ns);

#endif
