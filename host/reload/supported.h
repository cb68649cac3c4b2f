/* SPDX-License-Identifier: MIT */
/*
 * reload/supported.h - refuses settings that the language allows but this host cannot run: limits
 * of the runtime, reserved names, and features that this version lacks.
 *
 * Check, run and reload all refuse such a file: no setting is ignored silently, and a file that
 * passes the check passes the run.
 */
#ifndef HOST_RELOAD_SUPPORTED_H
#define HOST_RELOAD_SUPPORTED_H

#include "base/report.h"
#include "config/settings.h"

#define SUPERVISOR_DISPATCHER "supervisor" /* the supervisor's: no file may name its own so */

/* Reports all such settings at once: WEIR_EUNSUPPORTED. */
int supported_check(const struct settings *settings, struct report *report);

#endif
