/* SPDX-License-Identifier: MIT */
/*
 * pool/scale_law.h - the law of an elastic pool: from figures to a target.
 *
 * One pure function. It has no state, no clock and no lock: the caller (scaler.c) gives it the
 * present figures of a pool, and carries out the target. So a simulation runs the same code.
 *
 * The pool grows by the time that messages wait, since that is what its users feel:
 *  - While the first waiting message has waited for `wait` and no worker is idle, the pool grows by
 *    half of its open workers, at least by one, at most once in each `wait`.
 *  - With `wait` 0 the pool grows by as many workers as there are messages that no worker takes.
 *  - A worker that opens, for the first time or again, counts as capacity for a bounded time. So
 *    the pool does not grow again before the last growth has had its effect. While another worker
 *    is open, the bound is scale_open_limit_ns, and a worker whose open has failed does not count:
 *    what hangs or is broken does not hold up growth beside it.
 *  - While no worker is open, the backend may be down. Then all workers that are to open count, and
 *    one more starts each time that all of them have been so for `open`.
 *  - Without any worker the first message, or a sender that looks for room, starts one.
 *
 * It shrinks by the time that workers are unused: a worker that has been unused for `idle` leaves,
 * no earlier than `idle` after the last growth, and one in each part of `idle` (SCALE_SHARE). It
 * stays while messages wait for as many workers as would be left idle: else the pool would grow
 * again at once.
 */
#ifndef POOL_SCALE_LAW_H
#define POOL_SCALE_LAW_H

#include <stdbool.h>
#include <stdint.h>

#define SCALE_OPENING_WAITS_MAX 10u /* waits: ten growths without an effect of the last */
/* At the least: a connection to a slow network, or an interpreter, opens in this time; and a taker
 * that waits for 2 s survives three opens that hang. */
#define SCALE_OPEN_NS_MIN UINT64_C(500000000)
#define SCALE_SHARE 8u /* of `idle`: 16 workers leave in three times `idle` */

struct scale_law {
    uint64_t wait_ns; /* 0 = on demand */
    uint64_t idle_ns;
    uint64_t open_ns; /* `open_timeout` */
    uint32_t min, max;
};

/* A pool at one instant. */
struct scale_figures {
    uint64_t grown_ns;  /* since the last growth; UINT64_MAX = never */
    uint64_t shrunk_ns; /* since the last worker left; UINT64_MAX = never */
    uint64_t waiting;   /* messages that wait, also at senders that wait for room */
    uint64_t oldest_ns; /* how long the first of them has waited */
    uint64_t unused_ns; /* how long the worker that is unused longest has been so; 0: none is */
    uint32_t target;
    uint32_t busy;    /* open workers with a message in hand */
    uint32_t ready;   /* open workers between two messages: they wait for a thread, or for room */
    uint32_t idle;    /* open workers that sleep, and take a message at once */
    uint32_t pending; /* workers that are not open, and will open: not those that have stopped */
    uint32_t opening; /* of these, those that open or close for less than scale_open_limit_ns */
    uint32_t fresh;   /* of these, those that have not been open for less than `open` */
    bool is_up;       /* a worker is open, or was until it began its present close */
};

enum scale_cause {
    SCALE_STAYS,  /* nothing to change */
    SCALE_BOUNDS, /* the target was outside the bounds */
    SCALE_WAITED, /* messages have waited for too long */
    SCALE_DEMAND, /* a message found no idle worker */
    SCALE_UNUSED, /* a worker is not needed */
    SCALE_FULL,   /* it would grow, and has its maximum */
};

struct scale_verdict {
    uint32_t target;
    enum scale_cause cause;
};

/* For so long a worker that opens counts beside others that are open. */
uint64_t scale_open_limit_ns(const struct scale_law *law);

struct scale_verdict scale_decide(const struct scale_law *law, const struct scale_figures *figures);

/* For the log and for `weir plan`. */
const char *scale_cause_text(enum scale_cause cause);

#endif
