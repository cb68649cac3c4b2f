/*
 * apply/transition.h - what the parts of a reload share: from which settings to which.
 */
#ifndef HOST_APPLY_TRANSITION_H
#define HOST_APPLY_TRANSITION_H

#include "config/plan.h"
#include "host/run/assembly.h"

/* Const until the commit, but for the report. */
struct transition {
    struct assembly *assembly;
    const struct plan *plan;
    struct report *report;
    struct held_settings *old_held;      /* in force until the commit; NULL at the start */
    struct held_settings *held;          /* in force after it; then what is to be dropped */
    const struct settings *old_settings; /* NULL at the start */
    const struct settings *settings;
};

#endif
