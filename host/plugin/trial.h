/*
 * plugin/trial.h - calls of behaviours' `check` as bytes, for a process that makes them first.
 *
 * That process reads no configuration, looks for no plugin and copies none: the bytes say which
 * copy of a plugin to open, which behaviour is asked, and the values of its args as they were
 * written. Both ends are this very program, so numbers lie there as they do in memory.
 *
 *      struct probe_steps, then for each call:
 *      number of the behaviour [a new one: copy, file, name] number of values, values
 */
#ifndef HOST_PLUGIN_TRIAL_H
#define HOST_PLUGIN_TRIAL_H

#include "config/catalogue.h"
#include "host/plugin/loader.h"

/* A behaviour that is asked: the number of its plugin's copy, and its own for this trial. */
struct trial_behaviour {
    const struct loaded *loaded;
    const char *name;
    uint32_t number; /* counted from 0, in the order in which they are asked first */
};

/* One trial being written. Life: trial_begin, trial_add for each call, trial_end. */
struct trial {
    FILE *stream;
    char *bytes;
    size_t size;
    uint32_t behaviours;
};

/* WEIR_ENOMEM: then no trial_end. */
int trial_begin(struct trial *trial);

/* Adds a call; gives the behaviour its number with the first. `number` UINT32_MAX = it has none. */
void trial_add(struct trial *trial, struct trial_behaviour *behaviour,
               const struct catalogue_check *check);

/* Frees what it took. The descriptor of a file without a name that holds it, owned by the caller;
 * or -1 and errno. */
int trial_end(struct trial *trial);

/*
 * In the process of its own: makes the calls that stand in the file `descriptor`, each counted in
 * its probe_steps before and after it. What they find to be wrong is told to nobody. WEIR_ENOMEM,
 * WEIR_EINVALID: not all of them could be made.
 */
int trial_carry_out(int descriptor);

#endif
