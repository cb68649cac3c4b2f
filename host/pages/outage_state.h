/* SPDX-License-Identifier: MIT */
/*
 * pages/outage_state.h - tells from the figures of one pool when an outage begins and when it ends.
 *
 * It may begin with a retry, and is reported when no message was done for a while and a second
 * retry came. It is forgotten before that when nothing is left in the pool. The while doubles with
 * each report, so that a worker for which retries are usual does not fill the log.
 *
 * Life: zeros ... No thread of its own, no clock.
 */
#ifndef HOST_PAGES_OUTAGE_STATE_H
#define HOST_PAGES_OUTAGE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/pool.h"

#define OUTAGE_MS 5000            /* longer than a hiccup, shorter than an operator looks away */
#define OUTAGE_MS_MAX 3600000u    /* 1 h */
#define OUTAGE_CALM_MS 86400000u  /* 1 d after the last report OUTAGE_MS is enough again */
#define OUTAGE_RETURNS_MS 300000u /* 5 min: a message that went back to a source may come again */

struct outage_state {
    uint64_t pool;        /* the PID, for the caller */
    uint64_t done;        /* at the last check */
    uint64_t retried;     /* when the last message was done, or nothing was left */
    uint64_t moved;       /* likewise */
    uint64_t latest;      /* retries at the last check */
    uint64_t latest_ms;   /* the last check that saw a further one */
    uint64_t began_ms;    /* the first check that saw one since `retried`; 0: none */
    uint64_t wait_ms;     /* until the next report; 0: there was none */
    uint64_t reported_ms; /* when the last one began */
    bool is_reported;     /* and has not ended */
};

enum outage_news { OUTAGE_NO_NEWS, OUTAGE_BEGINS, OUTAGE_ENDS };

struct outage_report {
    enum outage_news news;
    uint64_t retries;  /* since the last message was done */
    uint64_t since_ms; /* the first of them */
};

struct outage_report outage_state_look(struct outage_state *state,
                                       const struct weir_pool_stats *stats, uint64_t now_ms);

#endif
