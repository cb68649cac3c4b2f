/* SPDX-License-Identifier: MIT */
/*
 * config/graph.h - the graph of pools: finds cycles that could deadlock.
 *
 * An edge leads from a pool of workers to the target of each output with `when_full: wait`, and
 * from a pool of pools to each of its members, which receive the pool's messages. So an output that
 * leads back to a pool above is a cycle.
 */
#ifndef CONFIG_GRAPH_H
#define CONFIG_GRAPH_H

#include <stdbool.h>

#include "config/settings.h"

struct graph_edge {
    uint32_t to;     /* index of a pool */
    uint32_t output; /* index of the output; SETTINGS_NONE = to a member */
};

struct graph {
    uint32_t count;  /* pools */
    uint32_t *first; /* per pool: its first edge; one more entry at the end */
    struct graph_edge *edges;
};

/* WEIR_ENOMEM. */
int graph_init(struct graph *graph, const struct settings *settings);
void graph_finish(struct graph *graph);

/* One step of a cycle: from this pool, by this output (SETTINGS_NONE = to a member). */
struct graph_step {
    uint32_t pool;
    uint32_t output;
};

/*
 * Calls `found` for every cycle that a walk in the order of the file closes, until `found` returns
 * false. Each cycle has at least one output; a graph without cycles gets no call. Steps are
 * borrowed. WEIR_ENOMEM.
 */
int graph_find_cycles(const struct graph *graph,
                      bool (*found)(void *context, const struct graph_step *steps, uint32_t count),
                      void *context);

#endif
