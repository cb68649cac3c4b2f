/* SPDX-License-Identifier: MIT */
/*
 * base/lease_end.h - what becomes of a take, and how a lease of a pool's worker ends.
 */
#ifndef BASE_LEASE_END_H
#define BASE_LEASE_END_H

/* Of takes that were not served. */
enum take_end {
    TAKE_FULL,      /* at once: no worker was free, and the queue had no room */
    TAKE_EXPIRED,   /* its time-out passed */
    TAKE_CANCELLED, /* the taker gave up, or ended */
    TAKE_REFUSED,   /* the pool closed, or gives no leases any more; or memory was out */
    TAKE_ENDS,
};

enum lease_end {
    LEASE_DONE,          /* returned */
    LEASE_FAILED,        /* returned as failed */
    LEASE_EXPIRED,       /* its time-out passed */
    LEASE_HOLDER_ENDED,  /* normally; as returned */
    LEASE_HOLDER_FAILED, /* it crashed or was killed */
    LEASE_MEMBER_FAILED, /* or was restarted by order */
    LEASE_REMOVED,       /* the member had to leave */
    LEASE_ENDS,
};

#endif
