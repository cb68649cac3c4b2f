/* SPDX-License-Identifier: MIT */
/*
 * reload/configuration.h - makes settings from a file, for check, plan, run and reload alike.
 *
 * Life: configuration_init .. configuration_finish owns the loaded plugins, which settings use. The
 * owner of the settings frees them before that. One thread at a time reads, tidies and finishes;
 * any thread may call configuration_leave at the same time.
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
    const char *program;                /* const: tries plugins first; NULL: no trial */
    bool notes_plugins;                 /* const: files of plugins are among those that were read */
    _Atomic uint32_t kept; /* by configuration_tidy; read by any thread: unused plugins that stay */
};

/* `program` loads new plugins first, see loader.h. WEIR_ENOMEM: nothing was made. */
int configuration_init(struct configuration *configuration, const char *program);
/* Before the first read: see loader_open_in_place. */
void configuration_debug(struct configuration *configuration);
/* Before the first read: the files that were read include those of plugins from now on. */
void configuration_note_plugins(struct configuration *configuration);
void configuration_finish(struct configuration *configuration);

/*
 * Unloads plugins that no held settings name, if they allow it. All settings must be held or
 * destroyed. Returns the number of unused plugins that stay.
 */
uint32_t configuration_tidy(struct configuration *configuration);

/*
 * Removes files from the disk, and leaves memory as it is: just before `_exit`. A read in progress
 * fails, or waits for the end of the process.
 */
void configuration_leave(struct configuration *configuration);

/*
 * Reads and checks `file`; looks up the plugins and counts the CPUs again. `files` (may be NULL)
 * gets the files that were read, in every case. 0 and settings, returned owned; WEIR_EUNKNOWN no
 * such file, WEIR_EINVALID, WEIR_EUNSUPPORTED, with all mistakes and warnings in `report`;
 * WEIR_ENOMEM.
 */
int configuration_read(struct configuration *configuration, const char *file,
                       struct config_files *files, struct report *report,
                       struct settings **out_settings);

/*
 * The checking part of configuration_read, with any catalogue, which must outlive the settings.
 */
int configuration_check(const struct config_tree *tree, const struct catalogue *catalogue,
                        uint32_t effective_cpus, struct report *report,
                        struct settings **out_settings);

/* Prints the errors and warnings of a report. */
void configuration_print(const struct report *report, FILE *stream);

/* The exit code of sysexits.h for a status of configuration_read. */
int configuration_exit_code(int status);

#endif
