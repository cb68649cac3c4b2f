/* SPDX-License-Identifier: MIT */
/*
 * face/lease_figures.h - figures of a pool that gives leases: its leases, holders and takers.
 *
 * A part of weir_core.h, through which the host and libweir include it. Any thread.
 */
#ifndef FACE_LEASE_FIGURES_H
#define FACE_LEASE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/message.h>

#include "base/lease_end.h"
#include "face/histogram.h"

struct pool;

/* The figures of one moment; the counters are of the whole life of the pool. */
struct pool_leases {
    bool on;          /* the pool gives leases */
    uint64_t leased;  /* workers that are leased */
    uint64_t waiting; /* takers without a worker; one that has given up counts until the queue is
                       * cleaned */
    uint64_t begun;
    uint64_t ended[LEASE_ENDS];   /* by enum lease_end */
    uint64_t unserved[TAKE_ENDS]; /* takes without a lease, by enum take_end */
    uint64_t failed_free;         /* workers that failed while no holder had them */
    uint64_t failed_leased;       /* workers that failed or were revoked while leased */
    struct histogram waited;      /* from the take to the lease, of takes that were served */
    struct histogram lasted;      /* from the lease to its end, of leases that are over */
};

/* An open lease. */
struct pool_lease {
    weir_pid member;
    weir_pid holder; /* 0 = the program */
    uint64_t age_ms;
};

void pool_look_at_leases(struct pool *pool, struct pool_leases *out);

/* Lists the open leases: fills up to `max`, and returns how many it has filled. */
uint32_t pool_list_leases(struct pool *pool, struct pool_lease *out, uint32_t max);

/* Lists the PIDs of waiting takers, oldest first: fills up to `max`, and returns the number of
 * filled elements. PID 0 = the program. */
uint32_t pool_list_takers(struct pool *pool, weir_pid *out, uint32_t max);

/* For pages and metrics, such as "returned". Static. */
const char *pool_lease_end_name(enum lease_end end);

/* Likewise, such as "full". Static. */
const char *pool_take_end_name(enum take_end end);

#endif
