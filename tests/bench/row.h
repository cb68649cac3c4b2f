/* SPDX-License-Identifier: MIT */
/*
 * row.h - what our program and those of the peers in C and C++ share: the shape of a row as the
 * runner passes it, time, work, and the one line that a program prints for a row.
 *
 *     PROGRAM ROW THREADS SENDERS RECEIVERS EACH LIMIT STEPS
 *
 * rows.py says what each row is. A program that does not know a row ends with ROW_UNKNOWN.
 */
#ifndef TESTS_BENCH_ROW_H
#define TESTS_BENCH_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROW_ARGUMENTS 8              /* with the program's own name */
#define ROW_UNKNOWN 3                /* exit status */
#define ROW_HOG_INTERVAL_NS 1000000u /* between the messages of the row `hog` */
#define ROW_OVERLOAD 10 /* how much of what the CPUs can do is offered, in the row `overload` */

struct row {
    const char *name;
    uint32_t threads;
    uint32_t senders;
    uint32_t receivers;
    uint64_t each;  /* messages of a sender, to each receiver if they are named one by one */
    uint32_t limit; /* of a mailbox or queue; 0 = none */
    uint64_t steps; /* of work with a message */
};

static inline bool row_parse(int argc, char **argv, struct row *out)
{
    uint64_t numbers[ROW_ARGUMENTS];

    if (argc < ROW_ARGUMENTS)
        return false;
    for (int i = 2; i < ROW_ARGUMENTS; i++) {
        char *end;

        numbers[i] = strtoull(argv[i], &end, 10);
        if (end == argv[i] || *end)
            return false;
    }
    out->name = argv[1];
    out->threads = (uint32_t)numbers[2];
    out->senders = (uint32_t)numbers[3];
    out->receivers = (uint32_t)numbers[4];
    out->each = numbers[5];
    out->limit = (uint32_t)numbers[6];
    out->steps = numbers[7];
    return true;
}

static inline bool row_is(const struct row *row, const char *name)
{
    return strcmp(row->name, name) == 0;
}

static inline uint64_t row_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Dependent multiply-adds: 900 of them take about a microsecond. */
static inline uint64_t row_work(uint64_t x, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__("" : "+r"(x)); /* each step is done */
    }
    return x;
}

/* The time of so many steps on this machine now: the best of a few runs. */
static inline double row_work_ns(uint64_t steps)
{
    double best = 1e18;

    for (int round = 0; round < 9; round++) {
        uint64_t repeats = 1 + 200000 / (steps + 1), x = (uint64_t)round, start = row_now_ns();
        double ns;

        for (uint64_t i = 0; i < repeats; i++)
            x = row_work(x, steps);
        ns = (double)(row_now_ns() - start) / (double)repeats;
        best = ns < best ? ns : best;
        __asm__("" : : "r"(x));
    }
    return best;
}

static inline uint64_t row_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Until that moment of row_now_ns: what paces a sender is the row, not a wait for others. */
static inline void row_sleep_until(uint64_t moment_ns)
{
    struct timespec moment;

    moment.tv_sec = (time_t)(moment_ns / 1000000000u);
    moment.tv_nsec = (long)(moment_ns % 1000000000u);
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
}

static inline long row_status_kb(const char *key)
{
    FILE *file = fopen("/proc/self/status", "re");
    size_t length = strlen(key);
    char line[256];
    long value = -1;

    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            value = strtol(line + length + 1, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* The line of a row; its further figures follow by row_print_figure, its end by row_print_end. */
static inline void row_print(uint64_t messages, uint64_t ns, bool ok)
{
    printf("RESULT messages=%llu ns=%llu ok=%d peak_kb=%ld", (unsigned long long)messages,
           (unsigned long long)ns, ok, row_status_kb("VmHWM"));
}

static inline void row_print_figure(const char *name, double value)
{
    printf(" %s=%.3f", name, value);
}

static inline void row_print_end(void)
{
    putchar('\n');
    fflush(stdout);
}

/* How often each sender of the row `overload` offers a message. */
static inline double row_overload_interval_ns(const struct row *row)
{
    return row_work_ns(row->steps) * row->senders / (ROW_OVERLOAD * row->threads);
}

static inline int row_compare_delays(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Percentiles of delays in nanoseconds, which are sorted; printed in microseconds. */
static inline void row_print_delays(uint64_t *delays, uint64_t count)
{
    qsort(delays, count, sizeof *delays, row_compare_delays);
    row_print_figure("p50", (double)delays[count / 2] / 1000);
    row_print_figure("p99", (double)delays[count - 1 - count / 100] / 1000);
    row_print_figure("p999", (double)delays[count - 1 - count / 1000] / 1000);
    row_print_figure("max", (double)delays[count - 1] / 1000);
}

#endif
