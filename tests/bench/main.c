/*
 * bench [--threads N] [--budget B] [--divide D] [--rounds R] [ROW...]: times each row and prints it
 * beside its goal; the median of R rounds. Fails when a row's result is wrong, never by the clock.
 *
 * The goals are nanoseconds of the machine on which the composite took FLOOR_ONE_GOAL_NS and
 * FLOOR_MANY_GOAL_NS. `x here` is the ratio to what the goal is on this one: as many floors.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ROUNDS_MAX 15
#define MANY 100u /* messages an activation */
#define FLOOR_ONE_GOAL_NS 13.2
#define FLOOR_MANY_GOAL_NS 4.9

struct floor {
    const char *name;
    double goal_ns; /* what it took where the goals were set; 0: it has none */
    double ns;      /* what it takes here */
};

struct arguments {
    uint32_t threads;
    uint32_t budget;
    uint64_t divisor;
    uint32_t rounds;
    char **names;
    int name_count;
};

static void drop_line(void *context, const struct log_line *line)
{
    (void)context;
    (void)line;
}

static bool is_wanted(const struct arguments *arguments, const char *name)
{
    for (int i = 0; i < arguments->name_count; i++)
        if (strcmp(arguments->names[i], name) == 0)
            return true;
    return arguments->name_count == 0;
}

static struct bench_result run_once(const struct bench_row *row, const struct arguments *arguments)
{
    struct bench bench = { .threads = arguments->threads,
                           .budget = arguments->budget,
                           .divisor = arguments->divisor };
    struct runtime_options options = { .clock = clock_monotonic(),
                                       .log = { drop_line, NULL },
                                       .print_context = &bench };
    struct bench_result result;

    if (runtime_create(&options, &bench.runtime) != 0 ||
        runtime_add_dispatcher(bench.runtime, "default", bench.threads, bench.budget,
                               &bench.dispatcher) ||
        runtime_start(bench.runtime) != 0)
        abort();
    result = row->run(&bench);
    (void)runtime_stop(bench.runtime);
    runtime_destroy(bench.runtime);
    return result;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void print_ratio(double ratio)
{
    if (ratio > 0)
        printf("%7.2f ", ratio);
    else
        printf("%7s ", "-");
}

static bool run_row(const struct bench_row *row, const struct arguments *arguments,
                    const struct floor *floor)
{
    double goal = arguments->threads == 1 ? row->goal_one : row->goal_two;
    double figures[ROUNDS_MAX], figure;
    bool ok = true;

    for (uint32_t i = 0; i < arguments->rounds; i++) {
        struct bench_result result = run_once(row, arguments);

        figures[i] = row->own_figure ? result.figure : (double)result.ns / (double)result.messages;
        ok &= result.ok;
    }
    qsort(figures, arguments->rounds, sizeof figures[0], compare);
    figure = figures[arguments->rounds / 2];
    printf("%-10s %7u %10.1f %8.0f ", row->name, arguments->threads, figure, goal);
    print_ratio(goal > 0 ? figure / goal : 0);
    print_ratio(goal > 0 && floor->ns > 0 ? figure / goal / (floor->ns / floor->goal_ns) : 0);
    print_ratio(floor->ns > 0 ? figure / floor->ns : 0);
    printf(" %s\n", ok ? "ok" : "BAD");
    fflush(stdout);
    return ok;
}

static bool parse(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        { "threads", required_argument, NULL, 't' },
        { "budget", required_argument, NULL, 'b' },
        { "divide", required_argument, NULL, 'd' },
        { "rounds", required_argument, NULL, 'r' },
        { 0 },
    };
    int letter;

    *arguments = (struct arguments){ .threads = 2, .divisor = 1, .rounds = 3 };
    while ((letter = getopt_long(argc, argv, "t:b:d:r:", options, NULL)) != -1) {
        unsigned long value = optarg ? strtoul(optarg, NULL, 10) : 0;

        if (letter == '?' || value == 0 || value > 1000000)
            return false;
        if (letter == 't')
            arguments->threads = (uint32_t)value;
        else if (letter == 'b')
            arguments->budget = (uint32_t)value;
        else if (letter == 'd')
            arguments->divisor = value;
        else
            arguments->rounds = value > ROUNDS_MAX ? ROUNDS_MAX : (uint32_t)value;
    }
    arguments->names = argv + optind;
    arguments->name_count = argc - optind;
    return true;
}

int main(int argc, char **argv)
{
    const struct bench_row *const tables[] = { bench_chain_rows, bench_stream_rows,
                                               bench_pool_rows,  bench_tree_rows,
                                               bench_scale_rows, bench_budget_rows };
    struct arguments arguments;
    bool ok = true;
    struct floor floors[BENCH_FLOORS] = {
        [BENCH_FLOOR_ONE] = { "floor", FLOOR_ONE_GOAL_NS, 0 },
        [BENCH_FLOOR_MANY] = { "floor many", FLOOR_MANY_GOAL_NS, 0 },
    };

    if (!parse(argc, argv, &arguments)) {
        fprintf(stderr, "usage: %s [--threads N] [--budget B] [--divide D] [--rounds R] [ROW...]\n",
                argv[0]);
        return 64;
    }
    floors[BENCH_FLOOR_ONE].ns = bench_floor_ns(1);
    floors[BENCH_FLOOR_MANY].ns = bench_floor_ns(MANY);
    printf("%-10s %7s %10s %8s %7s %7s %7s\n", "row", "threads", "ns (B)", "goal", "x goal",
           "x here", "x floor");
    for (int i = BENCH_FLOOR_ONE; i < BENCH_FLOORS; i++)
        printf("%-10s %7u %10.1f %8.1f %7.2f\n", floors[i].name, 1u, floors[i].ns,
               floors[i].goal_ns, floors[i].ns / floors[i].goal_ns);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct bench_row *row = tables[i]; row->name; row++)
            if (is_wanted(&arguments, row->name))
                ok &= run_row(row, &arguments, &floors[row->floor]);
    return ok ? 0 : 1;
}
