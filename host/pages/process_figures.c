/* SPDX-License-Identifier: MIT */
#include "host/pages/process_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The first fields of a file in /proc; false: it is not there. */
static bool read_file(int64_t process, const char *name, char *text, size_t size)
{
    char path[64];
    FILE *file;
    size_t length;

    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/%s", process, name);
    file = fopen(path, "re");
    if (!file)
        return false;
    length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    (void)fclose(file);
    return length > 0;
}

/* statm: the second number is the resident memory in pages. */
static bool read_memory(int64_t process, uint64_t *out)
{
    char text[256];
    unsigned long long pages;

    if (!read_file(process, "statm", text, sizeof text) ||
        sscanf(text, "%*s %llu", &pages) != 1) /* NOLINT(cert-err34-c): the kernel's own format */
        return false;
    *out = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* stat: fields 14, 15 and 22 are ticks, the last one since the start of the machine. Field 2 is a
 * name in brackets, with any characters. */
static bool read_times(int64_t process, struct process_figures *out)
{
    char text[1024];
    unsigned long long own, kernel, begun;
    struct timespec now;
    uint64_t now_ms, begun_ms;
    const char *rest;

    if (!read_file(process, "stat", text, sizeof text))
        return false;
    rest = strrchr(text, ')');
    if (!rest ||
        /* NOLINTNEXTLINE(cert-err34-c): the kernel's own format */
        sscanf(rest,
               ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %*s %*s %*s %*s %*s %*s "
               "%llu",
               &own, &kernel, &begun) != 3 ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return false;
    out->cpu_ms = (own + kernel) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    begun_ms = begun * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    out->age_ms = now_ms > begun_ms ? now_ms - begun_ms : 0;
    return true;
}

bool process_figures_read(int64_t process, struct process_figures *out)
{
    return process > 0 && read_memory(process, &out->memory) && read_times(process, out);
}
