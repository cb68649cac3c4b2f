/*
 * run/ending.h - what a run came to: its exit code, and in words what went wrong.
 *
 * Any thread that may take assembly->lock.
 */
#ifndef HOST_RUN_ENDING_H
#define HOST_RUN_ENDING_H

#include "host/run/accounts.h"

struct ending {
    bool has_escalated;  /* a pool has given up */
    bool is_complete;    /* drained, and no finite source was stopped before its end */
    bool is_finite;      /* it has sources, and each has an end */
    bool allows_dead;    /* dead letters are no reason for an exit code */
    int asked;           /* the largest status that a worker asked for */
    uint64_t lost_bytes; /* of what workers printed */
    struct accounts_result accounts;
};

/* Logs the ledger, and fills in what the runtime and the assembly know. */
void ending_look(struct ending *ending, struct assembly *assembly);

/* The first reason that holds gives it: what ended the host, then what workers asked for, then what
 * was lost. */
int ending_exit_code(const struct ending *ending);

/* The last lines of the log: lost text, and that the host has ended. */
void ending_log(const struct ending *ending, const struct log_sink *sink, int exit_code);

#endif
