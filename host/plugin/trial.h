/* SPDX-License-Identifier: MIT */
/*
 * plugin/trial.h - the calls of behaviours' `check` as bytes, for a process that tries them.
 *
 * That process reads no configuration, looks for no plugin and copies none. The bytes name the copy
 * of a plugin to open, and the behaviour; they contain the values of its args as they were written.
 * Both processes run this program, so numbers have the format of memory.
 *
 *      struct probe_steps, then for each call:
 *      number of the behaviour [a new one: copy, file, name] number of values, values
 */
#ifndef HOST_PLUGIN_TRIAL_H
#define HOST_PLUGIN_TRIAL_H

#include "config/catalogue.h"
#include "host/plugin/loader.h"

/* A behaviour with a `check`: the number of its plugin's copy, and its own number in this trial. */
struct trial_behaviour {
    const struct loaded *loaded;
    const char *name;
    uint32_t number; /* counted from 0, in the order of the first calls */
};

/* The writing of one trial. Life: trial_begin, trial_add for each call, trial_end. */
struct trial {
    FILE *stream;
    char *bytes;
    size_t size;
    uint32_t behaviours;
};

/* WEIR_ENOMEM: then without trial_end. */
int trial_begin(struct trial *trial);

/* Adds a call; the first call of a behaviour gives it its number. `number` UINT32_MAX = it has
 * none. */
void trial_add(struct trial *trial, struct trial_behaviour *behaviour,
               const struct catalogue_check *check);

/* Frees its memory. Returns the descriptor of a nameless file with the trial, owned by the caller;
 * or -1 and errno. */
int trial_end(struct trial *trial);

/*
 * In the new process: makes the calls of the file `descriptor`, and counts each in probe_steps
 * before and after it. Ignores the mistakes that they find. WEIR_ENOMEM, WEIR_EINVALID: some calls
 * could not be made; `problem` has the reason, or no text.
 */
int trial_carry_out(int descriptor, struct problem *problem);

#endif
