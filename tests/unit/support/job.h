/* SPDX-License-Identifier: MIT */
/*
 * job.h - an order to a worker of probe.h to send another order, whose origin the worker is.
 */
#ifndef TESTS_UNIT_SUPPORT_JOB_H
#define TESTS_UNIT_SUPPORT_JOB_H

#include "unit/support/rig.h"

struct job {
    weir_pid by;        /* a pool, or a worker */
    weir_pid to;        /* of the order */
    struct order order; /* its id is the token of the origin */
    const char *label;  /* of the message with the order; NULL: none. Static */
};

/* Ends the program when a message is refused. */
void job_send(struct rig *rig, struct job job);

#endif
