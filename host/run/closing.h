/*
 * run/closing.h - ends pools and sources in order, and waits for them as long as it may.
 *
 * Feeders end before those they feed, so nothing that was accepted loses its way. What does not
 * end in time is named in the log and left behind. None of this inside a read section.
 */
#ifndef HOST_RUN_CLOSING_H
#define HOST_RUN_CLOSING_H

#include "config/plan.h"
#include "host/run/assembly.h"

#define CLOSING_TIMEOUT_MS 30000 /* config.md: remove.timeout, when nothing else is said */
#define CLOSING_GRACE_MS 2000    /* after remove.timeout, for what is to be buried then */

/* For what was made and is not wanted: nobody waits for it but the next reload. */
#define CLOSING_ABANDON_MS 1000

/* How long several are waited for together. */
struct closing_time {
    struct clock clock;
    uint64_t deadline_ns;
};

struct closing_time closing_time_begin(uint64_t timeout_ms);
uint64_t closing_time_left_ms(const struct closing_time *time);

/* Frees what was left behind and has ended since. True when nothing is left behind any more. */
bool closing_collect_gone(struct assembly *assembly);

/* Waits for closed sources and frees them; NULLs are passed over. Without a `time`, each has the
 * usual one. */
void closing_forget_sources(struct assembly *assembly, struct source *const *sources,
                            uint32_t count, const struct closing_time *time);

/* Waits for closed pools and frees them; what does not end in time, or before the host does, is
 * among the gone. NULLs are passed over. */
void closing_forget_pools(struct assembly *assembly, struct pool *const *pools, uint32_t count,
                          const struct closing_time *time);

/* How long the slowest worker of a removed pool, and of those in it, may take. */
uint64_t closing_timeout_ms(struct pool *pool);

/* After the commit of `plan`: closes the pools that it removes, which are the last of the gone,
 * group by group, each for as long as its remove.timeout says, and frees those that end in time. */
void closing_drain(struct assembly *assembly, const struct plan *plan);

/*
 * Closes everything: sources, then pools as `plan` says, which leads from the settings in force to
 * nothing. True when all of it ended within `timeout_ms`.
 */
bool closing_shut_down(struct assembly *assembly, const struct plan *plan, uint64_t timeout_ms);

#endif
