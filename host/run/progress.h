/* SPDX-License-Identifier: MIT */
/*
 * run/progress.h - shows progress: a line below the log on a terminal, else lines in the log.
 *
 * The figures come from a callback that the host fills in; the rate is that of the last ten
 * seconds, and gives the time left. All functions but those that write are pure and get the time as
 * an argument.
 *
 * Life: progress_create .. progress_destroy. Not synchronised: one thread, the I/O thread, calls
 * progress_tick.
 */
#ifndef HOST_RUN_PROGRESS_H
#define HOST_RUN_PROGRESS_H

#include "base/log.h"
#include "host/log/screen.h"

#define PROGRESS_UNITS_MAX 8  /* more would not fit on a line */
#define PROGRESS_POOLS_MAX 16 /* likewise */
#define PROGRESS_NAME_SIZE 32

#define PROGRESS_DRAW_MS 200  /* five times a second: quick enough to look alive */
#define PROGRESS_LOG_MS 10000 /* without a terminal */
#define PROGRESS_SAMPLES 51   /* ten seconds of draws, both ends */

/* The values of weir_progress, added up over one pool or source. */
struct progress_unit {
    char owner[PROGRESS_NAME_SIZE]; /* path of the pool or source */
    char unit[PROGRESS_NAME_SIZE];  /* `files`, `bytes` */
    uint64_t done;
    uint64_t total; /* 0 = unknown */
};

struct progress_pool {
    char path[PROGRESS_NAME_SIZE];
    uint32_t live;
    uint32_t busy;
    uint64_t queued;
    uint64_t room; /* sum of the limits of all mailboxes; 0 = unlimited, or unbuffered */
};

/* Filled by the callback, in the order in which it shall be shown. Counts within the limits. */
struct progress_figures {
    struct progress_unit units[PROGRESS_UNITS_MAX];
    size_t unit_count;
    struct progress_pool pools[PROGRESS_POOLS_MAX];
    size_t pool_count;
};

/* Done so far at one time. */
struct progress_sample {
    uint64_t at_ms;
    uint64_t done[PROGRESS_UNITS_MAX];
};

/* The last samples, oldest first from `first` on. */
struct progress_window {
    struct progress_sample samples[PROGRESS_SAMPLES];
    size_t first;
    size_t count;
    size_t unit_count; /* of the samples; other units begin a new window */
};

/* Adds a sample. A window of zeros is empty. */
void progress_window_add(struct progress_window *window, uint64_t now_ms,
                         const struct progress_figures *figures);

/* Units a second over the window; 0 while it is too short for a rate. */
double progress_window_rate(const struct progress_window *window, size_t unit);

/*
 * The progress line, at most `width` columns, in ASCII. Parts that do not fit are left out from
 * the right: first pools, then units. Writes to `buffer` of `size` > width.
 */
void progress_format(char *buffer, size_t size, size_t width,
                     const struct progress_figures *figures, const struct progress_window *window);

struct progress_display;

struct progress_setup {
    struct screen *screen;       /* borrowed until progress_destroy */
    const struct log_sink *sink; /* likewise; gets a line at intervals without a terminal */
    void (*read)(void *context, struct progress_figures *out);
    void *context;
};

/* Returns owned; NULL when memory is out. */
struct progress_display *progress_create(const struct progress_setup *setup, uint64_t now_ms);
/* Wipes the line. NULL is allowed. */
void progress_destroy(struct progress_display *progress);

/* Draws or logs when the next line is due. Monotonic milliseconds; call it some ten times a second.
 * */
void progress_tick(struct progress_display *progress, uint64_t now_ms);

/* Wipes the line, and logs the figures once more if they were being logged: with the rate since
 * progress_create. */
void progress_finish(struct progress_display *progress, uint64_t now_ms);

#endif
