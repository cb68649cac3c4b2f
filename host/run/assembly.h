/* SPDX-License-Identifier: MIT */
/*
 * run/assembly.h - the running parts that the settings describe: dispatchers, pools, sources.
 *
 * `pools[i]` and `sources[i]` belong to index i of the settings in force. The assembly is empty at
 * first; apply.h fills and changes it.
 *
 * Life: assembly_init, apply_from_nothing .. assembly_finish, after the runtime has stopped and
 * before it is destroyed. Changes: one thread at a time (the start, then the supervisor), under
 * `lock`; figures: any thread, under `lock`.
 */
#ifndef HOST_RUN_ASSEMBLY_H
#define HOST_RUN_ASSEMBLY_H

#include "base/lock.h"
#include "base/report.h"
#include "config/settings.h"
#include "weir_core.h"

/* Settings that the specs of running workers share; counted. */
struct shared_settings {
    _Atomic uint32_t references;
    struct settings *settings;  /* owned */
    struct runtime *runtime;    /* const */
    _Atomic uint32_t **users;   /* const: of the plugins that the settings name; some are NULL */
    size_t users_count;         /* const */
    struct isolated **isolated; /* const; owned: one for each pool, NULL for one on threads */
};

struct assembly {
    struct runtime *runtime; /* const */
    struct lock lock;
    struct shared_settings *shared; /* lock: in force; NULL before the start */
    struct pool **pools;            /* lock */
    struct source **sources;        /* lock */
    struct pool **gone;             /* lock: removed pools that have not ended */
    uint32_t gone_count;            /* lock */
    struct source **gone_sources;   /* lock: closed ones that have not ended */
    uint32_t gone_source_count;     /* lock */
    /* Changed by one thread: those of the gone that draining.h ends. */
    struct closing *drains;
    uint32_t drain_count;
    uint64_t formers_due_ns;               /* until when these wait for former workers */
    struct ledger_reading gone_ledger;     /* lock: of removed pools that have ended */
    struct dead_letters_figures gone_dead; /* lock: of those pools, and of removed sources */
    uint64_t gone_misuses;                 /* lock: of those pools */
    uint64_t gone_unbound;                 /* lock: of removed pools that have ended */
    uint32_t generation;   /* lock: 1 after the start, then one more with each reload */
    bool changing;         /* lock: a reload is under way; a missing source may come back */
    _Atomic bool stopping; /* the host ends: no further waits */

    /* Const after the start: workers and sources of a reload open there; NULL: where they run. */
    struct dispatcher *opener;

    /* The dispatchers of the settings, and old ones that are still in use. Changed by one thread.
     * */
    struct dispatcher *dispatchers[RUNTIME_DISPATCHERS_MAX];
    uint32_t dispatcher_count;
};

void assembly_init(struct assembly *assembly, struct runtime *runtime);

/* After apply_from_nothing: lets the sources produce. */
void assembly_go(struct assembly *assembly);

/* Frees the tables, and drops the settings. */
void assembly_finish(struct assembly *assembly);

/* --- for reloads and closing.c --------------------------------------------------------------- */

struct shared_settings *shared_settings_create(struct runtime *runtime, struct settings *settings);
void shared_settings_unref(struct shared_settings *shared);

/* A spec for workers of `use`; keeps `shared` until its last use. NULL when memory is out. */
struct spec *assembly_spec_of_pool(struct shared_settings *shared, uint32_t index);
/* A spec for the manager of pool `index`; NULL also when there is none. */
struct spec *assembly_spec_of_manager(struct shared_settings *shared, uint32_t index);
struct spec *assembly_spec_of_source(struct shared_settings *shared, uint32_t index);

/* The bounds for the dead letters of each pool and source. */
struct dead_letters_bounds assembly_dead_letters_of(const struct settings *settings);

/* Makes pool `index` without bindings; its parent must be in `pools`. With `apart` the parent's
 * senders do not see it before pool_join. */
int assembly_create_pool(struct assembly *assembly, struct executor *executor,
                         struct shared_settings *shared, uint32_t index, struct pool **pools,
                         bool apart);

/* The wiring of pool `index`, whose outputs lead to `pools`. NULL when memory is out. */
struct wiring *assembly_wiring_of(const struct settings *settings, uint32_t index,
                                  struct pool *const *pools);

/* The wiring of a source. NULL when memory is out. */
struct wiring *assembly_wiring_of_source(const struct settings_source *source,
                                         struct pool *const *pools);

/* Makes source `index`, which produces after source_go. It opens on the threads of `opener`; NULL:
 * on its own. `replaces`: the source that it is to succeed; NULL: none. */
int assembly_create_source(struct assembly *assembly, struct executor *executor,
                           struct shared_settings *shared, uint32_t index,
                           struct pool *const *pools, struct dispatcher *opener,
                           struct source *replaces, struct source **out);

/* The options of pool `index` for a change from `present` workers. */
void assembly_change_options(struct assembly *assembly, const struct settings *settings,
                             uint32_t index, uint32_t present, struct pool_change_options *out);

#endif
