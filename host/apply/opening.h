/* SPDX-License-Identifier: MIT */
/*
 * apply/opening.h - waits until workers and sources that were made are open, or one of them failed.
 */
#ifndef HOST_APPLY_OPENING_H
#define HOST_APPLY_OPENING_H

#include "base/report.h"
#include "config/settings.h"
#include "weir_core.h"

/* The parts to wait for. Any of the arrays may hold NULL; `changes` may be NULL itself. */
struct opening {
    const struct settings *settings; /* their open_timeout applies, for the pools by index */
    struct pool *const *pools;       /* all of their workers */
    uint32_t pool_count;
    struct pool_change *const *changes; /* of pool_count: their prepared workers */
    struct source *const *sources;
    uint32_t source_count;
    const _Atomic bool *stopping; /* set: waiting ends */
};

/* The number of parts that have not tried to open yet. Not inside a read section. */
uint32_t opening_count(const struct opening *opening);

/*
 * 0 when all are open. Otherwise reports each part that failed, or was not open in time, by its
 * path: WEIR_EINVALID, WEIR_ETIMEOUT, WEIR_ECANCELLED (the host is stopping). Not inside a read
 * section.
 */
int opening_wait(const struct opening *opening, struct runtime *runtime, struct report *report);

#endif
