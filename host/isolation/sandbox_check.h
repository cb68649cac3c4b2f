/* SPDX-License-Identifier: MIT */
/*
 * isolation/sandbox_check.h - says of a configuration which sandboxes this kernel cannot enforce.
 */
#ifndef HOST_ISOLATION_SANDBOX_CHECK_H
#define HOST_ISOLATION_SANDBOX_CHECK_H

#include "base/report.h"
#include "config/settings.h"

/* Warns of each such sandbox; one that is strict is an error: WEIR_EUNSUPPORTED. */
int sandbox_check(const struct settings *settings, struct report *report);

#endif
