/*
 * reload/supported.h - what the language allows and this host could not run: limits of the runtime,
 * names that it uses itself, and what is not in this version.
 *
 * The file is refused for it, by check as by run and reload: nothing that was asked for is ignored
 * in silence, and no check says good to what a run refuses.
 */
#ifndef HOST_RELOAD_SUPPORTED_H
#define HOST_RELOAD_SUPPORTED_H

#include "base/report.h"
#include "config/settings.h"

#define SUPERVISOR_DISPATCHER "supervisor" /* the supervisor's: no file may name its own so */

/* Reports all of it at once: WEIR_EUNSUPPORTED. */
int supported_check(const struct settings *settings, struct report *report);

#endif
