/* SPDX-License-Identifier: MIT */
#include "config/graph.h"

#include <stdlib.h>
#include <string.h>

/* --- edges ------------------------------------------------------------------------------------ */

static bool is_edge(const struct settings_output *output)
{
    return output->pool != SETTINGS_NONE && output->when_full == WEIR_FULL_WAIT;
}

/* First pass: first[i + 1] is the number of edges of pool i. Second pass: first[i] is their
 * start. */
static void count_edges(struct graph *graph, const struct settings *settings)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->parent != SETTINGS_NONE)
            graph->first[pool->parent + 1]++;
        for (uint32_t j = 0; j < pool->output_count; j++)
            graph->first[i + 1] += is_edge(&pool->outputs[j]);
    }
    for (uint32_t i = 0; i < graph->count; i++)
        graph->first[i + 1] += graph->first[i];
}

static void put_edges(struct graph *graph, const struct settings *settings, uint32_t *next)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->parent != SETTINGS_NONE)
            graph->edges[next[pool->parent]++] = (struct graph_edge){ i, SETTINGS_NONE };
        for (uint32_t j = 0; j < pool->output_count; j++) {
            if (is_edge(&pool->outputs[j]))
                graph->edges[next[i]++] = (struct graph_edge){ pool->outputs[j].pool, j };
        }
    }
}

int graph_init(struct graph *graph, const struct settings *settings)
{
    uint32_t *next;

    *graph = (struct graph){ .count = settings->pool_count };
    graph->first = calloc((size_t)graph->count + 1, sizeof *graph->first);
    if (!graph->first)
        return WEIR_ENOMEM;
    count_edges(graph, settings);
    graph->edges = calloc((size_t)graph->first[graph->count] + 1, sizeof *graph->edges);
    next = malloc(((size_t)graph->count + 1) * sizeof *next);
    if (!graph->edges || !next) {
        free(next);
        graph_finish(graph);
        return WEIR_ENOMEM;
    }
    memcpy(next, graph->first, ((size_t)graph->count + 1) * sizeof *next);
    put_edges(graph, settings, next);
    free(next);
    return WEIR_OK;
}

void graph_finish(struct graph *graph)
{
    free(graph->first);
    free(graph->edges);
    *graph = (struct graph){ 0 };
}

/* --- cycles ----------------------------------------------------------------------------------- */

enum colour {
    NEW,
    ON_PATH,
    FINISHED,
};

/* A depth-first walk; its path is the stack. */
struct walk {
    const struct graph *graph;
    uint8_t *colours;         /* per pool: enum colour */
    uint32_t *next;           /* per pool: its next edge */
    struct graph_step *steps; /* the path; a step's output is the edge taken from it */
    uint32_t depth;
    uint32_t *places; /* per pool on the path: its step */
    bool (*found)(void *context, const struct graph_step *steps, uint32_t count);
    void *context;
    bool enough; /* `found` asked for no more cycles */
};

static void enter(struct walk *walk, uint32_t pool)
{
    walk->colours[pool] = ON_PATH;
    walk->places[pool] = walk->depth;
    walk->steps[walk->depth++] = (struct graph_step){ pool, SETTINGS_NONE };
}

static void close_cycle(struct walk *walk, uint32_t pool)
{
    uint32_t start = walk->places[pool];

    walk->enough = !walk->found(walk->context, &walk->steps[start], walk->depth - start);
}

static void take_step(struct walk *walk)
{
    struct graph_step *step = &walk->steps[walk->depth - 1];
    const struct graph_edge *edge;

    if (walk->next[step->pool] == walk->graph->first[step->pool + 1]) {
        walk->colours[step->pool] = FINISHED;
        walk->depth--;
        return;
    }
    edge = &walk->graph->edges[walk->next[step->pool]++];
    step->output = edge->output;
    if (walk->colours[edge->to] == ON_PATH)
        close_cycle(walk, edge->to);
    else if (walk->colours[edge->to] == NEW)
        enter(walk, edge->to);
}

static void walk_all(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->graph->count && !walk->enough; i++) {
        if (walk->colours[i] == NEW)
            enter(walk, i);
        while (walk->depth && !walk->enough)
            take_step(walk);
    }
}

int graph_find_cycles(const struct graph *graph,
                      bool (*found)(void *context, const struct graph_step *steps, uint32_t count),
                      void *context)
{
    size_t count = (size_t)graph->count + 1;
    struct walk walk = { .graph = graph, .found = found, .context = context };
    int status = WEIR_ENOMEM;

    walk.colours = calloc(count, sizeof *walk.colours);
    walk.next = malloc(count * sizeof *walk.next);
    walk.steps = calloc(count, sizeof *walk.steps);
    walk.places = calloc(count, sizeof *walk.places);
    if (walk.colours && walk.next && walk.steps && walk.places) {
        memcpy(walk.next, graph->first, count * sizeof *walk.next);
        walk_all(&walk);
        status = WEIR_OK;
    }
    free(walk.colours);
    free(walk.next);
    free(walk.steps);
    free(walk.places);
    return status;
}
