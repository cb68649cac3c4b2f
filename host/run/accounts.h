/*
 * run/accounts.h - the figures of the running parts, for people: ledger, progress, completion.
 *
 * Any thread that may take assembly->lock.
 */
#ifndef HOST_RUN_ACCOUNTS_H
#define HOST_RUN_ACCOUNTS_H

#include "host/run/assembly.h"
#include "host/run/progress.h"

/* Logs what a source has sent, and what of that is dead. */
void accounts_log_source(struct assembly *assembly, struct source *source);

/* What all of a run comes to. */
struct accounts_result {
    bool is_balanced; /* the ledger */
    uint64_t restarts;
    struct dead_letters_figures dead;
};

/* Logs every source, the ledger of every pool, and their sum; `out_result` may be NULL. */
void accounts_log_ledger(struct assembly *assembly, struct accounts_result *out_result);

/* Fills in how far sources and pools are. */
void accounts_progress(struct assembly *assembly, struct progress_figures *out);

/* Sums over everything, to see whether anything still moves. */
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
 * True when there are sources, all of them have ended, and nothing waits or is worked on. Two looks
 * in a row tell: when as many were settled before the first one ended as are accepted when the
 * second one ends, nothing moved between the two, and nothing can move any more.
 */
bool accounts_are_done(struct assembly *assembly);

#endif
