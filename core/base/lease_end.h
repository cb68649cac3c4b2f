/*
 * base/lease_end.h - how a lease of a pool's worker ends.
 */
#ifndef BASE_LEASE_END_H
#define BASE_LEASE_END_H

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
