#include "config/graph.h"

#include <stdlib.h>
#include <string.h>

/* --- edges ------------------------------------------------------------------------------------ */

static bool is_edge(const struct settings_output *output, bool waiting_only)
{
    return output->pool != SETTINGS_NONE && (!waiting_only || output->when_full == WEIR_FULL_WAIT);
}

/* First pass: first[i + 1] is the number of edges of pool i. Second pass: first[i] is their
 * start. */
static void count_edges(struct graph *graph, const struct settings *settings, bool waiting_only)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->parent != SETTINGS_NONE)
            graph->first[pool->parent + 1]++;
        for (uint32_t j = 0; j < pool->output_count; j++)
            graph->first[i + 1] += is_edge(&pool->outputs[j], waiting_only);
    }
    for (uint32_t i = 0; i < graph->count; i++)
        graph->first[i + 1] += graph->first[i];
}

static void put_edges(struct graph *graph, const struct settings *settings, bool waiting_only,
                      uint32_t *next)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->parent != SETTINGS_NONE)
            graph->edges[next[pool->parent]++] = (struct graph_edge){ i, SETTINGS_NONE };
        for (uint32_t j = 0; j < pool->output_count; j++) {
            if (is_edge(&pool->outputs[j], waiting_only))
                graph->edges[next[i]++] = (struct graph_edge){ pool->outputs[j].pool, j };
        }
    }
}

int graph_init(struct graph *graph, const struct settings *settings, bool waiting_only)
{
    uint32_t *next;

    *graph = (struct graph){ .count = settings->pool_count };
    graph->first = calloc((size_t)graph->count + 1, sizeof *graph->first);
    if (!graph->first)
        return WEIR_ENOMEM;
    count_edges(graph, settings, waiting_only);
    graph->edges = calloc((size_t)graph->first[graph->count] + 1, sizeof *graph->edges);
    next = malloc(((size_t)graph->count + 1) * sizeof *next);
    if (!graph->edges || !next) {
        free(next);
        graph_finish(graph);
        return WEIR_ENOMEM;
    }
    memcpy(next, graph->first, ((size_t)graph->count + 1) * sizeof *next);
    put_edges(graph, settings, waiting_only, next);
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

/* --- order ------------------------------------------------------------------------------------ */

/*
 * Tarjan's strongly connected components, without recursion. The algorithm yields a fed pool before
 * its feeder, so `order` is filled from its end.
 */
struct components {
    const struct graph *graph;
    uint32_t *next;    /* per pool: its next edge */
    uint32_t *numbers; /* per pool: in order of discovery, from 1; 0 = new */
    uint32_t *lowest;  /* per pool: the smallest number reachable in its component */
    uint32_t *path;    /* the walk */
    uint32_t *open;    /* discovered, in no component yet */
    bool *is_open;     /* per pool */
    uint32_t depth;
    uint32_t open_count;
    uint32_t discovered;
    uint32_t placed;
    uint32_t group;
    uint32_t *order;
    uint32_t *groups;
};

static void discover(struct components *components, uint32_t pool)
{
    components->numbers[pool] = ++components->discovered;
    components->lowest[pool] = components->discovered;
    components->path[components->depth++] = pool;
    components->open[components->open_count++] = pool;
    components->is_open[pool] = true;
}

static void lower(struct components *components, uint32_t pool, uint32_t number)
{
    if (components->lowest[pool] > number)
        components->lowest[pool] = number;
}

static int by_index(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Places the open pools from `pool` on: they are one component. */
static void place_component(struct components *components, uint32_t pool)
{
    uint32_t start = components->open_count;
    uint32_t size;
    uint32_t *members;

    do {
        start--;
        components->is_open[components->open[start]] = false;
        if (components->groups)
            components->groups[components->open[start]] = components->group;
    } while (components->open[start] != pool);
    size = components->open_count - start;
    components->placed += size;
    members = &components->order[components->graph->count - components->placed];
    memcpy(members, &components->open[start], size * sizeof *members);
    qsort(members, size, sizeof *members, by_index);
    components->open_count = start;
    components->group++;
}

static void leave(struct components *components, uint32_t pool)
{
    components->depth--;
    if (components->lowest[pool] == components->numbers[pool])
        place_component(components, pool);
    if (components->depth)
        lower(components, components->path[components->depth - 1], components->lowest[pool]);
}

static void advance(struct components *components)
{
    uint32_t pool = components->path[components->depth - 1];
    uint32_t to;

    if (components->next[pool] == components->graph->first[pool + 1]) {
        leave(components, pool);
        return;
    }
    to = components->graph->edges[components->next[pool]++].to;
    if (components->numbers[to] == 0)
        discover(components, to);
    else if (components->is_open[to])
        lower(components, pool, components->numbers[to]);
}

static void order_all(struct components *components)
{
    /* From the end, since `order` is filled from its end: independent pools keep the order of the
     * file. */
    for (uint32_t i = components->graph->count; i > 0; i--) {
        if (components->numbers[i - 1] == 0)
            discover(components, i - 1);
        while (components->depth)
            advance(components);
    }
}

int graph_order(const struct graph *graph, uint32_t *order, uint32_t *groups)
{
    size_t count = (size_t)graph->count + 1;
    uint32_t *arrays = calloc(5 * count, sizeof *arrays);
    bool *is_open = calloc(count, sizeof *is_open);
    struct components components = { .graph = graph };

    if (!arrays || !is_open) {
        free(arrays);
        free(is_open);
        return WEIR_ENOMEM;
    }
    components.order = order;
    components.groups = groups;
    components.next = arrays;
    components.numbers = arrays + count;
    components.lowest = arrays + 2 * count;
    components.path = arrays + 3 * count;
    components.open = arrays + 4 * count;
    components.is_open = is_open;
    memcpy(components.next, graph->first, count * sizeof *components.next);
    order_all(&components);
    free(arrays);
    free(is_open);
    return WEIR_OK;
}

int graph_output_order(const struct settings *settings, uint32_t *order, uint32_t *groups)
{
    struct graph graph;
    int status = graph_init(&graph, settings, false);

    if (status != WEIR_OK)
        return status;
    status = graph_order(&graph, order, groups);
    graph_finish(&graph);
    return status;
}
