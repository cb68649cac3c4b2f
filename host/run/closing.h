/* SPDX-License-Identifier: MIT */
/*
 * run/closing.h - ends pools and sources in order, and waits for them as long as it may.
 *
 * Each part ends after all parts that feed it, so that every accepted message still finds its
 * target. Parts that do not end in time are named in the log and left behind. No function here is
 * called inside a read section.
 */
#ifndef HOST_RUN_CLOSING_H
#define HOST_RUN_CLOSING_H

#include "host/run/assembly.h"

#define CLOSING_TIMEOUT_MS 30000 /* the default of remove.timeout in docs/config.md */
#define CLOSING_GRACE_MS 2000 /* after remove.timeout, to settle the messages of a stopped worker */

/* For parts that were made and then refused: only the next reload waits for them. */
#define CLOSING_ABANDON_MS 1000

/* A time limit that several waits share. */
struct closing_time {
    struct clock clock;
    uint64_t deadline_ns;
};

struct closing_time closing_time_begin(uint64_t timeout_ms);
uint64_t closing_time_left_ms(const struct closing_time *time);

/* Makes room among the gone for so many more pools and sources, so that nothing below needs memory
 * for that. WEIR_ENOMEM. */
int closing_reserve(struct assembly *assembly, uint32_t pools, uint32_t sources);

/* Frees those among the gone that have ended; their figures stay in the sums. Costs as much as
 * there are gone. */
void closing_collect_gone(struct assembly *assembly);

/* Puts closed parts among the gone, where there must be room, waits for them and frees those that
 * have ended by then. Waits no longer than the host runs. NULLs are passed over. */
void closing_forget_sources(struct assembly *assembly, struct source *const *sources,
                            uint32_t count, uint64_t timeout_ms);
void closing_forget_pools(struct assembly *assembly, struct pool *const *pools, uint32_t count,
                          uint64_t timeout_ms);

/* The longest time that a worker of a removed pool, or of the pools below it, may take to end. */
uint64_t closing_timeout_ms(struct pool *pool);

/* Whether no pool has former workers, which may feed and use pools that the present settings do not
 * name; and the longest time that one may still take: those that are overdue do not count. */
bool closing_formers_are_over(const struct assembly *assembly);
uint64_t closing_formers_timeout_ms(const struct assembly *assembly);

/* Closes everything: sources, then pools in the order in which they feed each other. A part that
 * hangs leaves time for those after it: see closing_share_ms. True when all parts ended within
 * `timeout_ms`. */
bool closing_shut_down(struct assembly *assembly, uint64_t timeout_ms);

#endif
