/*
 * host/rebuild.h - from the running settings to new ones, as a transaction.
 *
 * Prepare makes and opens everything new; the commit cannot fail; then the removed pools drain, in
 * output order. A failure before the commit leaves everything as it was.
 */
#ifndef HOST_REBUILD_H
#define HOST_REBUILD_H

#include "config/plan.h"
#include "host/assembly.h"

/* How long each part took. */
struct rebuild_times {
    uint64_t prepare_ns;
    uint64_t commit_ns;
    uint64_t drain_ns;
};

/*
 * Carries out `plan`, which was made from the settings in force to `settings`. Takes the settings,
 * also on failure. Not in a read section, not on a thread whose pools it waits for. Reports why
 * not: WEIR_EINVALID, WEIR_ETIMEOUT, WEIR_EUNSUPPORTED, WEIR_ENOMEM. 0 also when a removed pool
 * did not drain in time; the log names it.
 */
int rebuild(struct assembly *assembly, struct settings *settings, const struct plan *plan,
            struct report *report, struct rebuild_times *out_times);

#endif
