/*
 * reload/configuration.h - from a file to settings: the one way of check, plan, run and reload.
 *
 * Life: configuration_init .. configuration_finish holds what settings need: loaded plugins. The
 * settings are freed by their owner before that. One thread at a time reads, tidies and finishes;
 * any thread may leave meanwhile.
 */
#ifndef HOST_RELOAD_CONFIGURATION_H
#define HOST_RELOAD_CONFIGURATION_H

#include <stdio.h>

#include "config/files.h"
#include "config/settings.h"
#include "host/plugin/catalogue.h"

struct configuration {
    struct loader *loader;              /* owned */
    struct plugin_catalogue *catalogue; /* owned */
    const char *program;                /* const: what tries plugins first; NULL: nothing does */
    _Atomic uint32_t kept; /* by configuration_tidy; read by anybody: plugins that nobody uses */
};

/* `program` is what loads new plugins first, see loader.h. WEIR_ENOMEM: nothing was made. */
int configuration_init(struct configuration *configuration, const char *program);
void configuration_finish(struct configuration *configuration);

/*
 * Unloads plugins that no held settings name, where they say that they can be. No settings may be
 * left that were read and are not held. Returns how many others stay that nobody uses.
 */
uint32_t configuration_tidy(struct configuration *configuration);

/*
 * Removes what would stay on disk, and leaves what running plugins use: just before `_exit`. A
 * read that goes on fails, or waits for the end of the process.
 */
void configuration_leave(struct configuration *configuration);

/*
 * Reads and checks `file`, looking anew at the plugins it names and at the CPUs there are; `files`
 * (may be NULL) gets what was read, whatever comes of it. 0 and settings, returned owned;
 * WEIR_EUNKNOWN no such file, WEIR_EINVALID, WEIR_EUNSUPPORTED, with all that is wrong in `report`,
 * and warnings;
 * WEIR_ENOMEM.
 */
int configuration_read(struct configuration *configuration, const char *file,
                       struct config_files *files, struct report *report,
                       struct settings **out_settings);

/*
 * The part of it that judges: all that can be said of a file without running it. As
 * configuration_read, with whatever catalogue, which must outlive the settings.
 */
int configuration_check(const struct config_tree *tree, const struct catalogue *catalogue,
                        uint32_t effective_cpus, struct report *report,
                        struct settings **out_settings);

/* Prints what a report holds, errors and warnings, for people. */
void configuration_tell(const struct report *report, FILE *stream);

/* The exit code of sysexits.h for a status of configuration_read. */
int configuration_exit_code(int status);

#endif
