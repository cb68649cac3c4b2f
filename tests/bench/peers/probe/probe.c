/* SPDX-License-Identifier: MIT */
/*
 * How long a cache line takes from CPU 0 to CPU 1, one way: the median of some short bursts, in
 * nanoseconds. Virtual CPUs move: a figure of two threads means little without it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../../row.h"

#define CROSSINGS 20000u
#define BURSTS 6               /* the first one warms up */
#define LOOK_EVERY 16          /* crossings, at the clock */
#define BURST_NS_MAX 50000000u /* two threads on one CPU would take minutes */

#define END UINT64_MAX /* the number that ends the other thread */

struct lines {
    _Alignas(128) _Atomic uint64_t there;
    _Alignas(128) _Atomic uint64_t back;
};

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *answer(void *argument)
{
    struct lines *lines = argument;

    pin(1);
    for (uint64_t i = 0; i != END;) {
        uint64_t there = atomic_load_explicit(&lines->there, memory_order_acquire);

        if (there == i)
            continue;
        i = there;
        atomic_store_explicit(&lines->back, i, memory_order_release);
    }
    return NULL;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Nanoseconds of one crossing; `number` is the last one that was used. */
static double burst(struct lines *lines, uint64_t *number)
{
    uint64_t start = row_now_ns(), ns = 0;
    uint32_t count = 0;

    while (count < CROSSINGS && ns < BURST_NS_MAX) {
        atomic_store_explicit(&lines->there, ++*number, memory_order_release);
        while (atomic_load_explicit(&lines->back, memory_order_acquire) != *number)
            ;
        if (++count % LOOK_EVERY == 0)
            ns = row_now_ns() - start;
    }
    return (double)(row_now_ns() - start) / count / 2;
}

int main(void)
{
    static struct lines lines;
    double bursts[BURSTS];
    pthread_t thread;
    uint64_t number = 0;

    pin(0);
    if (pthread_create(&thread, NULL, answer, &lines) != 0)
        return 1;
    for (int i = 0; i < BURSTS; i++)
        bursts[i] = burst(&lines, &number);
    atomic_store(&lines.there, END);
    pthread_join(thread, NULL);
    qsort(bursts + 1, BURSTS - 1, sizeof *bursts, compare);
    printf("%.1f\n", bursts[1 + (BURSTS - 1) / 2]);
    return 0;
}
