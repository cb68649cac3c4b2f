/*
 * actor/backoff.h - what follows on a failure: another try at once, one after a pause, or none.
 *
 * The same rule for workers, sources, managers and pools of pools, by `struct restart`: `max`
 * failures within `within` are followed by another try at once. Each further failure, and each
 * failed open, waits twice as long as the one before, up to the maximum; or, past `max`, nothing
 * follows, as `then` says. The count and the pause begin again after a life of `within` without a
 * failure: docs/decisions/087. Zero is a valid start. Used by one owner.
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

enum backoff_answer {
    BACKOFF_AT_ONCE,  /* it opens again at once */
    BACKOFF_PAUSE,    /* it opens again after the pause */
    BACKOFF_STOP,     /* it stays closed until somebody restarts it */
    BACKOFF_ESCALATE, /* likewise, and the next level decides */
};

struct backoff_decision {
    enum backoff_answer answer;
    uint64_t pause_ms; /* 0 unless the answer is BACKOFF_PAUSE */
};

/* Counts a failure at `now_ns`, and says what follows. `was_open`: it failed while it was open;
 * else its open has failed. */
struct backoff_decision backoff_decide(struct backoff *backoff, const struct restart *restart,
                                       bool was_open, uint64_t now_ns);

/* It is open at `now_ns`; only the first call after a failure counts. */
void backoff_open(struct backoff *backoff, uint64_t now_ns);

#endif
