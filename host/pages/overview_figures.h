/* SPDX-License-Identifier: MIT */
/*
 * pages/overview_figures.h - the running host as all pages see it, and the figures that they share.
 *
 * Any thread but the supervisor's.
 */
#ifndef HOST_PAGES_OVERVIEW_FIGURES_H
#define HOST_PAGES_OVERVIEW_FIGURES_H

#include "host/reload/supervisor.h"

struct overview {
    struct assembly *assembly;
    const struct supervisor *supervisor;
    struct dead_file *dead_file; /* NULL: none */
    struct reserve *reserve;     /* of descriptors; NULL: none */
    const char *file;
    const char *version; /* of the program */
    struct clock clock;
    uint64_t (*date_us)(void); /* the wall's clock, for people */
    uint64_t started_ns;       /* by `clock` */
};

/* "running" or "stopping". Static. */
const char *overview_state(const struct overview *overview);

/* The figures of one pool. */
struct overview_pool {
    struct pool *pool;
    const struct settings_pool *settings;
    const struct settings_pool *pools; /* all; outputs index them */
    struct weir_pool_stats stats;
    struct dead_letters_figures dead; /* with those below */
    uint64_t unbound; /* including pools below: messages emitted at unbound outputs */
    struct pool_scaling scaling;
    struct pool_leases leases;
    uint64_t resizes[RESIZE_BY_COUNT];       /* by enum resize_by */
    struct pool_progress units[PLACE_UNITS]; /* that its workers report */
    uint32_t unit_count;
};

/* Reads the figures of pool `index`; assembly->lock is held. */
void overview_look_locked(const struct overview *overview, uint32_t index,
                          struct overview_pool *out);

/* Writes dead letters into the open object: total, kept, evicted, replayed, and by reason. */
struct json;
void overview_write_dead(struct json *json, const struct dead_letters_figures *dead);

/* A figure of a pool by its index in the table of figures; the name is NULL after the last. */
const char *overview_figure_name(uint32_t number);
uint64_t overview_figure(const struct weir_pool_stats *stats, uint32_t number);
/* The word for a limit that is no number, as in the file; else NULL. */
const char *overview_figure_word(const struct overview_pool *pool, uint32_t number);

#endif
