/* SPDX-License-Identifier: MIT */
#include "host/pages/process_pages.h"

#include <stdlib.h>

#include "host/pages/metric_lines.h"
#include "host/pages/process_figures.h"

/* Of the processes of one pool. */
struct sum {
    const char *path; /* of the pool */
    uint64_t processes;
    uint64_t memory;
    uint64_t cpu_ms;
};

static void add(const struct weir_member *member, struct sum *sum)
{
    struct process_figures figures;

    if (!process_figures_read(member->process, &figures))
        return;
    sum->processes++;
    sum->memory += figures.memory;
    sum->cpu_ms += figures.cpu_ms;
}

/* Without memory the pool has none. */
static struct sum sum_of(struct pool *pool, const char *path)
{
    uint32_t max = pool_members(pool, NULL, sizeof(struct weir_member), 0), count = 0;
    struct weir_member *members = calloc((size_t)max + 1, sizeof *members);
    struct sum sum = { .path = path };

    if (members)
        count = pool_members(pool, members, sizeof *members, max);
    for (uint32_t i = 0; i < count && i < max; i++)
        add(&members[i], &sum);
    free(members);
    return sum;
}

static void write_metric(FILE *stream, const char *name, const char *help, const struct sum *sums,
                         uint32_t count, size_t offset)
{
    metric_lines_begin(stream, name, "gauge", help);
    for (uint32_t i = 0; i < count; i++)
        if (sums[i].processes > 0)
            metric_lines_write(stream, name, "pool", sums[i].path, NULL, NULL,
                               *(const uint64_t *)(const void *)((const char *)&sums[i] + offset));
}

void process_pages_metrics_locked(const struct overview *overview, FILE *stream)
{
    const struct assembly *assembly = overview->assembly;
    const struct settings *settings = assembly->shared->settings;
    struct sum *sums = calloc((size_t)settings->pool_count + 1, sizeof *sums);
    uint32_t count = 0;

    for (uint32_t i = 0; sums && i < settings->pool_count; i++)
        if (!settings->pools[i].nested)
            sums[count++] = sum_of(assembly->pools[i], settings->pools[i].path);
    write_metric(stream, "weir_pool_processes", "Processes that work for a pool's workers.", sums,
                 count, offsetof(struct sum, processes));
    write_metric(stream, "weir_pool_process_memory_bytes", "Memory in RAM of those processes.",
                 sums, count, offsetof(struct sum, memory));
    write_metric(stream, "weir_pool_process_cpu_milliseconds",
                 "Time of the CPU that those processes have used since their start.", sums, count,
                 offsetof(struct sum, cpu_ms));
    free(sums);
}
