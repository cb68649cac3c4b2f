/* SPDX-License-Identifier: MIT */
/*
 * bench ROW THREADS SENDERS RECEIVERS EACH LIMIT STEPS [BUDGET]: runs one row once and prints its
 * line; row.h says what the arguments are, rows.py has them. Fails when a row's result is wrong,
 * never by the clock.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static void drop_line(void *context, const struct log_line *line)
{
    (void)context;
    (void)line;
}

static struct bench_result run(const struct bench_row *row, struct bench *bench, uint32_t budget)
{
    struct runtime_options options = { .clock = clock_monotonic(),
                                       .log = { drop_line, NULL },
                                       .print_context = bench };
    struct bench_result result;

    if (runtime_create(&options, &bench->runtime) != 0 ||
        runtime_add_dispatcher(bench->runtime, "default", bench->row.threads,
                               &(struct dispatcher_policy){ .budget = budget },
                               &bench->dispatcher) ||
        runtime_start(bench->runtime) != 0)
        abort();
    result = row->run(bench);
    (void)runtime_stop(bench->runtime);
    runtime_destroy(bench->runtime);
    return result;
}

static const struct bench_row *find(const char *name)
{
    const struct bench_row *const tables[] = {
        bench_floor_rows, bench_chain_rows,  bench_stream_rows, bench_pool_rows,   bench_tree_rows,
        bench_scale_rows, bench_budget_rows, bench_delay_rows,  bench_growth_rows, bench_nested_rows
    };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct bench_row *row = tables[i]; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

static void print(struct bench_result *result)
{
    row_print(result->messages, result->ns, result->ok);
    if (result->delays)
        row_print_delays(result->delays, result->messages);
    else if (result->has_figure)
        row_print_figure("figure", result->figure);
    row_print_end();
    free(result->delays);
}

int main(int argc, char **argv)
{
    struct bench bench = { .runtime = NULL };
    const struct bench_row *row;
    struct bench_result result;

    if (!row_parse(argc, argv, &bench.row) || bench.row.threads == 0) {
        fprintf(stderr, "usage: %s ROW THREADS SENDERS RECEIVERS EACH LIMIT STEPS [BUDGET]\n",
                argv[0]);
        return 64;
    }
    row = find(bench.row.name);
    if (!row)
        return ROW_UNKNOWN;
    result = run(row, &bench,
                 argc > ROW_ARGUMENTS ? (uint32_t)strtoul(argv[ROW_ARGUMENTS], NULL, 10) : 0);
    print(&result);
    return result.ok ? 0 : 1;
}
