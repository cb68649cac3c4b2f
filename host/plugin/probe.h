/* SPDX-License-Identifier: MIT */
/*
 * plugin/probe.h - loads a plugin in a separate process first.
 *
 * Loading a plugin runs its constructors. They may crash, end the program or never return, and
 * dlopen may crash on an incomplete file. That must not happen in a running host, nor in `weir
 * check`. So this program is started with the command `probe`, which loads the copy, checks it and
 * sends the verdict through a pipe.
 *
 * A behaviour's `check` is code of the plugin, too, and runs in such a process first: all checks of
 * a configuration in one process.
 *
 * Both ends of the pipe are here. Any thread.
 */
#ifndef HOST_PLUGIN_PROBE_H
#define HOST_PLUGIN_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/plugin/problem.h"

#define PROBE_COMMAND "probe"
#define PROBE_TRIAL 4         /* descriptor of the trial in the new process */
#define PROBE_TIMEOUT_MS 5000 /* loading takes milliseconds; a reload must not wait longer */

/*
 * Starts `program probe COPY FILE` and waits for the verdict, at most $WEIR_PLUGIN_TIMEOUT or
 * PROBE_TIMEOUT_MS. 0: the copy may be loaded. Negative, with a sentence that begins with `file`:
 * the arguments of probe_answer, or WEIR_EUNSUPPORTED and how the process ended. No process is
 * left.
 */
int probe_plugin(const char *program, const char *copy, const char *file, struct problem *problem);

/* The progress of the calls of `check` in a separate process, which writes it; the parent reads. */
struct probe_steps {
    _Atomic uint32_t begun;
    _Atomic uint32_t returned; /* of the begun ones */
};

/* The progress at the end. */
struct probe_progress {
    uint32_t begun;
    uint32_t returned;
    bool whole; /* the process made all of them */
};

/*
 * Starts `program probe`, which makes the calls of a trial, see plugin/trial.h: `trial` is its
 * descriptor (borrowed), which begins with a struct probe_steps. The calls may crash, end the
 * program or never return. Each has the time-out of a load. 0 when the process made all calls,
 * whatever mistakes they found; negative, with a clause without its subject: "was killed by
 * SIGSEGV".
 */
int probe_checks(const char *program, int trial, struct probe_progress *out,
                 struct problem *problem);

/*
 * In the new process: makes its group end with the host. WEIR_ENOTALLOWED: the host has ended.
 */
int probe_begin(void);
/* The plugin is open, or could not be opened: no constructor runs any more. Once, before: */
void probe_opened(void);
/* Sends the verdict and ends the process without running destructors of the plugin. */
_Noreturn void probe_answer(int status, const struct problem *problem);

#endif
