/* SPDX-License-Identifier: MIT */
/*
 * run/ending.h - the result of a run: its exit code, and in words what went wrong.
 *
 * Any thread that may take assembly->lock.
 */
#ifndef HOST_RUN_ENDING_H
#define HOST_RUN_ENDING_H

#include "host/run/accounts.h"

struct ending {
    bool has_escalated;  /* a pool at the top has escalated */
    bool is_complete;    /* drained, and no finite source was stopped before its end */
    bool is_finite;      /* it has sources, and each is finite */
    bool allows_dead;    /* dead letters do not change the exit code */
    int asked;           /* the largest exit status that a worker requested */
    uint64_t lost_bytes; /* of printed text */
    struct accounts_result accounts;
};

/* Logs the ledger, and fills in the figures of the runtime and the assembly. */
void ending_look(struct ending *ending, struct assembly *assembly);

/* The code of the first reason that applies: the event that ended the host, then the status that
 * workers requested, then lost messages or text. */
int ending_exit_code(const struct ending *ending);

/* The last lines of the log: lost text, and that the host has ended. */
void ending_log(const struct ending *ending, const struct log_sink *sink, int exit_code);

#endif
