/*
 * plugin/probe.h - loads a plugin in a process of its own first, to see what comes of it.
 *
 * Loading a plugin runs code of its own, its constructors. They may crash, end the program or never
 * return, and dlopen may die of a file that is not whole. A host that works must not find that out
 * in itself, nor `weir check`, which is to say what is wrong. So this very program is started with
 * the command `probe`, which loads the copy, judges it and sends the verdict through a pipe.
 *
 * A behaviour's `check` is code of the plugin, too, and is called in such a process first: of all
 * that a file asks for, in one process.
 *
 * Both ends of the pipe are here. Any thread.
 */
#ifndef HOST_PLUGIN_PROBE_H
#define HOST_PLUGIN_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/plugin/problem.h"

#define PROBE_COMMAND "probe"
#define PROBE_TRIAL 4         /* in that process: the descriptor of the trial */
#define PROBE_TIMEOUT_MS 5000 /* loading takes milliseconds; nobody waits longer for a reload */

/*
 * Starts `program probe COPY FILE` and waits for what it says, at most $WEIR_PLUGIN_TIMEOUT or
 * PROBE_TIMEOUT_MS. 0: the copy may be loaded. Negative, and one sentence that begins with `file`:
 * what probe_answer was given there, or WEIR_EUNSUPPORTED and how the process ended instead.
 * Nothing of that process is left.
 */
int probe_plugin(const char *program, const char *copy, const char *file, struct problem *problem);

/* How far the calls of `check` came in a process of their own; it writes, who started it reads. */
struct probe_steps {
    _Atomic uint32_t begun;
    _Atomic uint32_t returned; /* of these */
};

/* The same, when it is over. */
struct probe_progress {
    uint32_t begun;
    uint32_t returned;
    bool whole; /* the process made all of them */
};

/*
 * Starts `program probe`, which makes the calls of a trial, see plugin/trial.h: `trial` is its
 * descriptor (borrowed), which begins with a struct probe_steps. They may crash, end the program or
 * never return. Each has as long as a plugin has to be loaded. 0 when the process made all of them,
 * whatever they found to be wrong; negative, and how it ended instead, as a clause without its
 * subject: "was killed by SIGSEGV".
 */
int probe_checks(const char *program, int trial, struct probe_progress *out,
                 struct problem *problem);

/*
 * In that process: sees to it that it does not outlive who started it. WEIR_ENOTALLOWED: nobody
 * waits for an answer.
 */
int probe_begin(void);
/* The plugin is open, or could not be opened: what comes now is no constructor. Once, before: */
void probe_opened(void);
/* Sends the verdict and ends the process; no destructor of the plugin runs. */
_Noreturn void probe_answer(int status, const struct problem *problem);

#endif
