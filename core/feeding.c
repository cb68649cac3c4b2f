/* SPDX-License-Identifier: MIT */
#include "feeding.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "actor/wiring.h"
#include "base/table.h"

struct numbered {
    struct table_node node; /* by its PID */
    uint32_t part;
};

/*
 * A graph of two nodes for each part: node 2i is part i, node 2i + 1 its entry. The entry of a pool
 * leads to the pool and to the entries of its members. So an output needs one edge, however many
 * pools are nested in its target.
 */
struct graph {
    const struct feeder *parts;
    const struct feeding_use *uses;
    uint32_t use_count;
    uint32_t weakest;          /* kind of the uses that count; 0 = none does */
    const uint32_t *within;    /* of each node: edges between nodes of other numbers do not count */
    uint32_t count;            /* of nodes */
    struct numbered *numbered; /* of each part */
    struct table by_pid;
    uint32_t *first; /* of each node: its edges are edges[first[i]] to edges[first[i + 1]] */
    uint32_t *edges;
    bool is_filling; /* else edges are only counted */
    /* Of the walk: */
    uint32_t *numbers; /* of each node, in the order of arrival, from 1; 0 = not yet */
    uint32_t *lows;    /* of each node: the lowest number on the stack that it leads to */
    uint32_t *next;    /* of each node: the edge to take next */
    uint32_t *path;    /* nodes that were entered and not left */
    uint32_t *stack;   /* nodes whose circle is not known yet */
    uint32_t *order;   /* nodes, those of one circle together, each before the nodes that feed it */
    uint32_t *circles; /* of each node: its circle's number + 1; 0 = not known yet */
    uint32_t arrived, depth, height, ordered, circle_count;
};

#define NOT_ASKED_FOR UINT32_MAX

static uint32_t part_of(const struct graph *graph, weir_pid pid)
{
    struct table_node *node = pid ? table_first(&graph->by_pid, pid) : NULL;

    return node ? TABLE_ENTRY(node, struct numbered, node)->part : NOT_ASKED_FOR;
}

/* --- edges ----------------------------------------------------------------------------------- */

static void add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
    if (graph->within[from] != graph->within[to])
        return;
    if (graph->is_filling)
        graph->edges[graph->next[from]++] = to;
    else
        graph->first[from + 1]++;
}

static void add_edges_of(struct graph *graph, uint32_t index)
{
    const struct wiring *wiring = wiring_get(graph->parts[index].wiring);
    uint32_t parent = part_of(graph, graph->parts[index].parent);

    add_edge(graph, 2 * index + 1, 2 * index);
    if (parent != NOT_ASKED_FOR) {
        add_edge(graph, 2 * parent + 1, 2 * index + 1);
        add_edge(graph, 2 * index, 2 * parent);
    }
    for (uint32_t i = 0; wiring && i < wiring->count; i++) {
        uint32_t target = part_of(graph, wiring->bindings[i].target);

        if (target != NOT_ASKED_FOR)
            add_edge(graph, 2 * index, 2 * target + 1);
    }
}

static void add_uses(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->use_count; i++) {
        const struct feeding_use *use = &graph->uses[i];
        uint32_t user = part_of(graph, use->user);
        uint32_t used = part_of(graph, use->used);

        if ((uint32_t)use->kind <= graph->weakest && user != NOT_ASKED_FOR && used != NOT_ASKED_FOR)
            add_edge(graph, 2 * user, 2 * used + 1);
    }
}

static void add_edges(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->count / 2; i++)
        add_edges_of(graph, i);
    add_uses(graph);
}

/* In one read section the wirings stay as they are: both times the edges are the same. */
static int find_edges(struct graph *graph)
{
    add_edges(graph);
    for (uint32_t i = 0; i < graph->count; i++) {
        graph->first[i + 1] += graph->first[i];
        graph->next[i] = graph->first[i];
    }
    graph->edges = calloc((size_t)graph->first[graph->count] + 1, sizeof *graph->edges);
    if (!graph->edges)
        return WEIR_ENOMEM;
    graph->is_filling = true;
    add_edges(graph);
    for (uint32_t i = 0; i < graph->count; i++)
        graph->next[i] = graph->first[i];
    return 0;
}

/* --- circles: strongly connected components by Tarjan, without recursion ------------------- */

static void enter(struct graph *graph, uint32_t node)
{
    graph->numbers[node] = graph->lows[node] = ++graph->arrived;
    graph->path[graph->depth++] = node;
    graph->stack[graph->height++] = node;
}

static void lower(struct graph *graph, uint32_t node, uint32_t number)
{
    if (number < graph->lows[node])
        graph->lows[node] = number;
}

static void leave(struct graph *graph)
{
    uint32_t node = graph->path[--graph->depth];
    uint32_t last;

    if (graph->depth > 0)
        lower(graph, graph->path[graph->depth - 1], graph->lows[node]);
    if (graph->lows[node] != graph->numbers[node])
        return;
    graph->circle_count++;
    do {
        last = graph->stack[--graph->height];
        graph->circles[last] = graph->circle_count;
        graph->order[graph->ordered++] = last;
    } while (last != node);
}

static void take_step(struct graph *graph)
{
    uint32_t node = graph->path[graph->depth - 1];
    uint32_t to;

    if (graph->next[node] == graph->first[node + 1]) {
        leave(graph);
        return;
    }
    to = graph->edges[graph->next[node]++];
    if (!graph->numbers[to])
        enter(graph, to);
    else if (!graph->circles[to])
        lower(graph, node, graph->numbers[to]);
}

static void find_circles(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        if (!graph->numbers[i])
            enter(graph, i);
        while (graph->depth > 0)
            take_step(graph);
    }
}

/* --- waves ------------------------------------------------------------------------------- */

static bool is_part(uint32_t node)
{
    return node % 2 == 0;
}

/* Both arrays have one element per circle. A circle closes later than each circle with a part that
 * feeds it. */
static void spread_waves(const struct graph *graph, uint32_t *waves, bool *has_part)
{
    for (uint32_t i = 0; i < graph->count; i++)
        has_part[graph->circles[i]] |= is_part(i);
    for (uint32_t i = graph->count; i-- > 0;) {
        uint32_t node = graph->order[i];
        uint32_t circle = graph->circles[node];
        uint32_t after = waves[circle] + has_part[circle];

        for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++) {
            uint32_t fed = graph->circles[graph->edges[edge]];

            if (fed != circle && waves[fed] < after)
                waves[fed] = after;
        }
    }
}

static int find_waves(const struct graph *graph, uint32_t *out_waves)
{
    uint32_t *waves = calloc((size_t)graph->circle_count + 1, sizeof *waves);
    bool *has_part = calloc((size_t)graph->circle_count + 1, sizeof *has_part);

    if (waves && has_part) {
        spread_waves(graph, waves, has_part);
        for (uint32_t i = 0; i < graph->count / 2; i++)
            out_waves[i] = waves[graph->circles[2 * i]];
    }
    free(waves);
    free(has_part);
    return waves && has_part ? 0 : WEIR_ENOMEM;
}

static bool allocate(struct graph *graph)
{
    uint32_t **arrays[] = { &graph->first, &graph->numbers, &graph->lows,  &graph->next,
                            &graph->path,  &graph->stack,   &graph->order, &graph->circles };
    bool all = true;

    graph->numbered = calloc((size_t)graph->count / 2 + 1, sizeof *graph->numbered);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = calloc((size_t)graph->count + 1, sizeof **arrays[i]);
        all = all && *arrays[i];
    }
    return all && graph->numbered;
}

static void finish(struct graph *graph)
{
    uint32_t *arrays[] = { graph->first, graph->numbers, graph->lows,  graph->next,   graph->path,
                           graph->stack, graph->order,   graph->edges, graph->circles };

    (void)table_take_all(&graph->by_pid);
    free(graph->numbered);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* One walk. Fills the wave of each part, and the circle of each node. */
static int walk(struct graph *graph, uint32_t *out_waves, uint32_t *out_circles)
{
    int status = allocate(graph) ? 0 : WEIR_ENOMEM;

    for (uint32_t i = 0; status == 0 && i < graph->count / 2; i++) {
        graph->numbered[i].part = i;
        table_add(&graph->by_pid, &graph->numbered[i].node, graph->parts[i].pid);
    }
    if (status == 0)
        status = find_edges(graph);
    if (status == 0) {
        find_circles(graph);
        status = find_waves(graph, out_waves);
        memcpy(out_circles, graph->circles, graph->count * sizeof *out_circles);
    }
    finish(graph);
    return status;
}

/* --- from the weakest links to the outputs --------------------------------------------------- */

/* The order so far, and that within its circles. */
struct rank {
    uint32_t part;
    uint32_t wave, inner;
};

static int by_wave(const void *one, const void *other)
{
    const struct rank *a = one, *b = other;

    if (a->wave != b->wave)
        return a->wave < b->wave ? -1 : 1;
    return a->inner < b->inner ? -1 : a->inner > b->inner;
}

/* Puts the order within the circles into `waves`. */
static int refine(uint32_t *waves, const uint32_t *inner, uint32_t count)
{
    struct rank *ranks = calloc((size_t)count + 1, sizeof *ranks);
    uint32_t wave = 0;

    if (!ranks)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = (struct rank){ i, waves[i], inner[i] };
    qsort(ranks, count, sizeof *ranks, by_wave);
    for (uint32_t i = 0; i < count; i++) {
        wave += i > 0 && by_wave(&ranks[i - 1], &ranks[i]) != 0;
        waves[ranks[i].part] = wave;
    }
    free(ranks);
    return 0;
}

int feeding_waves(const struct feeder *parts, uint32_t count, const struct feeding_use *uses,
                  uint32_t use_count, uint32_t *out_waves)
{
    uint32_t *inner = calloc((size_t)count + 1, sizeof *inner);
    uint32_t *circles = calloc(2 * (size_t)count + 1, sizeof *circles);
    int status = inner && circles ? 0 : WEIR_ENOMEM;
    uint32_t kinds = use_count > 0 ? FEEDING_ASKS + 1 : 1;

    memset(out_waves, 0, count * sizeof *out_waves);
    while (status == 0 && kinds-- > 0) {
        struct graph graph = { .parts = parts,
                               .uses = uses,
                               .use_count = use_count,
                               .weakest = kinds,
                               .within = circles,
                               .count = 2 * count };

        status = walk(&graph, inner, circles);
        if (status == 0)
            status = refine(out_waves, inner, count);
    }
    free(inner);
    free(circles);
    return status;
}
