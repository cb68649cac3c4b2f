/*
 * reload/rebuilding.h - what the parts of a reload share: from which settings to which.
 */
#ifndef HOST_RELOAD_REBUILDING_H
#define HOST_RELOAD_REBUILDING_H

#include "config/plan.h"
#include "host/run/assembly.h"

/* Const until the commit, but for the report. */
struct rebuilding {
    struct assembly *assembly;
    const struct plan *plan;
    struct report *report;
    struct held_settings *old_held;      /* in force until the commit; NULL at the start */
    struct held_settings *held;          /* in force after it; then what is to be dropped */
    const struct settings *old_settings; /* NULL at the start */
    const struct settings *settings;
};

#endif
