/* SPDX-License-Identifier: MIT */
/*
 * client.h - what the clients of the benches with foreign servers share: times, and ends.
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* When a client begins, connected, and when it has ended: in seconds of CLOCK_MONOTONIC. */
static inline void print_time(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)printf("%lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
    (void)fflush(stdout);
}

static inline void need(int ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "client: %s\n", what);
    exit(1);
}

#endif
