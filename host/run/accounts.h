/* SPDX-License-Identifier: MIT */
/*
 * run/accounts.h - the figures of the running parts: ledger, progress, completion.
 *
 * Any thread that may take assembly->lock.
 */
#ifndef HOST_RUN_ACCOUNTS_H
#define HOST_RUN_ACCOUNTS_H

#include "host/run/assembly.h"
#include "host/run/progress.h"

/* Logs how many messages a source has sent, and how many of them are dead. */
void accounts_log_source(struct assembly *assembly, struct source *source);

/* The result of a whole run. */
struct accounts_result {
    bool is_balanced; /* of the ledger */
    uint64_t restarts;
    struct dead_letters_figures dead;
};

/* Logs every source, the ledger of every pool, and their sum; `out_result` may be NULL. */
void accounts_log_ledger(struct assembly *assembly, struct accounts_result *out_result);

/* Fills in the progress of sources and pools. */
void accounts_progress(struct assembly *assembly, struct progress_figures *out);

/* Sums over all pools and sources, which show whether any message still moves. */
struct accounts_totals {
    uint64_t accepted;
    uint64_t settled; /* done, dead or moved */
    uint32_t sources;
    uint32_t open_sources;
    uint32_t unfinished_sources; /* open ones that have an end */
    uint32_t endless_sources;
};
void accounts_totals(struct assembly *assembly, struct accounts_totals *out);

/*
 * True when there are sources, all of them have ended, and no message waits or is handled. Compares
 * two successive readings: if the first reading counts as many settled messages as the second one
 * counts accepted messages, no message moved between them, and none can move any more.
 */
bool accounts_are_done(struct assembly *assembly);

#endif
