/* SPDX-License-Identifier: MIT */
/*
 * apply/transition.h - the settings before and after a reload, which its parts share.
 */
#ifndef HOST_APPLY_TRANSITION_H
#define HOST_APPLY_TRANSITION_H

#include "config/plan.h"
#include "host/run/assembly.h"

/* Const until the commit, except for the report. */
struct transition {
    struct assembly *assembly;
    const struct plan *plan;
    struct report *report;
    struct shared_settings *old_shared; /* in force until the commit; NULL at the start */
    /* in force after it; from then on, the former settings, to be released */
    struct shared_settings *shared;
    const struct settings *old_settings; /* NULL at the start */
    const struct settings *settings;
};

#endif
