/* SPDX-License-Identifier: MIT */
#include "host/run/progress.h"

#include <stdlib.h>
#include <string.h>

#include "host/log/line.h"

#define RATE_MS_MIN 400   /* a shorter window gives no useful rate */
#define LINE_MAX_SIZE 512 /* a wider terminal is left empty on the right */
#define PART_SIZE 160
#define BAR_CELLS 8
#define LEFT_S_MAX 359999 /* a larger estimate is not shown */

struct progress_display {
    struct progress_setup setup; /* const */
    struct progress_window window;
    uint64_t created_ms; /* const */
    uint64_t drawn_ms;
    uint64_t logged_ms;
    bool started;
};

static struct progress_sample *sample_at(struct progress_window *window, size_t index)
{
    return &window->samples[(window->first + index) % PROGRESS_SAMPLES];
}

void progress_window_add(struct progress_window *window, uint64_t now_ms,
                         const struct progress_figures *figures)
{
    struct progress_sample *sample;

    if (window->unit_count != figures->unit_count)
        *window = (struct progress_window){ .unit_count = figures->unit_count };
    if (window->count == PROGRESS_SAMPLES) {
        window->first = (window->first + 1) % PROGRESS_SAMPLES;
        window->count--;
    }
    sample = sample_at(window, window->count++);
    sample->at_ms = now_ms;
    for (size_t i = 0; i < figures->unit_count; i++)
        sample->done[i] = figures->units[i].done;
}

double progress_window_rate(const struct progress_window *window, size_t unit)
{
    const struct progress_sample *first = &window->samples[window->first];
    const struct progress_sample
        *last = &window->samples[(window->first + window->count - 1) % PROGRESS_SAMPLES];

    if (window->count < 2 || last->at_ms - first->at_ms < RATE_MS_MIN)
        return 0;
    if (last->done[unit] <= first->done[unit]) /* a figure goes back when its worker is replaced */
        return 0;
    return (double)(last->done[unit] - first->done[unit]) * 1000.0 /
           (double)(last->at_ms - first->at_ms);
}

static bool is_bytes(const struct progress_unit *unit)
{
    return strcmp(unit->unit, "bytes") == 0;
}

static void add_grouped(struct line *line, uint64_t value)
{
    char text[32];
    struct line digits;

    line_init(&digits, text, sizeof text);
    line_unsigned(&digits, value);
    for (size_t i = 0; i < digits.used; i++) {
        if (i && (digits.used - i) % 3 == 0)
            line_put(line, ',');
        line_put(line, text[i]);
    }
}

static void add_bytes(struct line *line, double value)
{
    static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t scale = 0;

    while (value >= 1024 && scale + 1 < sizeof names / sizeof names[0]) {
        value /= 1024;
        scale++;
    }
    line_format(line, scale && value < 100 ? "%.1f %s" : "%.0f %s", value, names[scale]);
}

static void add_left(struct line *line, double seconds)
{
    unsigned left = (unsigned)(seconds + 0.5);

    if (left >= 3600)
        line_format(line, "%u:%02u:%02u left", left / 3600, left / 60 % 60, left % 60);
    else
        line_format(line, "%u:%02u left", left / 60, left % 60);
}

/* The unit with a known end that is furthest from it; unit_count when none has one. */
static size_t slowest_unit(const struct progress_figures *figures)
{
    size_t slowest = figures->unit_count;
    double least = 2;

    for (size_t i = 0; i < figures->unit_count; i++) {
        const struct progress_unit *unit = &figures->units[i];
        double part = unit->total ? (double)unit->done / (double)unit->total : 2;

        if (part < least) {
            least = part;
            slowest = i;
        }
    }
    return slowest;
}

static double part_done(const struct progress_unit *unit)
{
    return unit->done < unit->total ? (double)unit->done / (double)unit->total : 1;
}

static void add_percent_and_left(struct line *line, const struct progress_figures *figures,
                                 const struct progress_window *window)
{
    size_t index = slowest_unit(figures);
    const struct progress_unit *unit = &figures->units[index];
    double rate, left;

    if (index == figures->unit_count)
        return;
    line_format(line, "%3u%%", (unsigned)(part_done(unit) * 100));
    rate = progress_window_rate(window, index);
    if (rate <= 0 || unit->done >= unit->total)
        return;
    left = (double)(unit->total - unit->done) / rate;
    if (left > LEFT_S_MAX)
        return;
    line_text(line, "  ");
    add_left(line, left);
}

static void add_unit(struct line *line, const struct progress_figures *figures,
                     const struct progress_window *window, size_t index)
{
    const struct progress_unit *unit = &figures->units[index];
    double rate = progress_window_rate(window, index);
    bool same_owner = index && strcmp(unit->owner, figures->units[index - 1].owner) == 0;

    line_text(line, same_owner ? ", " : unit->owner);
    if (!same_owner)
        line_put(line, ' ');
    if (is_bytes(unit)) {
        add_bytes(line, (double)unit->done);
    } else {
        add_grouped(line, unit->done);
        line_put(line, ' ');
        line_text(line, unit->unit);
    }
    if (rate <= 0)
        return;
    line_text(line, " (");
    if (is_bytes(unit))
        add_bytes(line, rate);
    else
        add_grouped(line, (uint64_t)(rate + 0.5));
    line_text(line, "/s)");
}

static void add_bar(struct line *line, const struct progress_pool *pool)
{
    uint64_t queued = pool->queued < pool->room ? pool->queued : pool->room;
    /* Rounded up: one waiting message is seen. */
    uint64_t cells = (queued * BAR_CELLS + pool->room - 1) / pool->room;

    line_put(line, '[');
    for (uint64_t i = 0; i < BAR_CELLS; i++)
        line_put(line, i < cells ? '#' : '.');
    line_put(line, ']');
}

static void add_pool(struct line *line, const struct progress_pool *pool)
{
    line_format(line, "%s %u/%u ", pool->path, pool->busy, pool->live);
    if (pool->room)
        add_bar(line, pool);
    else
        line_unsigned(line, pool->queued);
}

/* Adds a part if the whole part fits; else returns false. */
static bool add_part(struct line *line, const struct line *part, const char *between)
{
    size_t gap = line->used ? strlen(between) : 0;

    if (part->cut || line->used + gap + part->used > line->size - 1)
        return false;
    if (gap)
        line_text(line, between);
    line_bytes(line, part->text, part->used);
    return true;
}

static bool add_units(struct line *line, const struct progress_figures *figures,
                      const struct progress_window *window)
{
    char text[PART_SIZE];
    struct line part;

    for (size_t i = 0; i < figures->unit_count; i++) {
        line_init(&part, text, sizeof text);
        add_unit(&part, figures, window, i);
        if (!add_part(line, &part, text[0] == ',' ? "" : "  "))
            return false;
    }
    return true;
}

void progress_format(char *buffer, size_t size, size_t width,
                     const struct progress_figures *figures, const struct progress_window *window)
{
    char text[PART_SIZE];
    struct line line, part;
    bool fits;

    line_init(&line, buffer, width + 1 < size ? width + 1 : size);
    line_init(&part, text, sizeof text);
    add_percent_and_left(&part, figures, window);
    fits = add_part(&line, &part, "") && add_units(&line, figures, window);
    for (size_t i = 0; fits && i < figures->pool_count; i++) {
        line_init(&part, text, sizeof text);
        add_pool(&part, &figures->pools[i]);
        fits = add_part(&line, &part, i ? "  " : "  | ");
    }
}

struct progress_display *progress_create(const struct progress_setup *setup, uint64_t now_ms)
{
    struct progress_display *progress = calloc(1, sizeof *progress);

    if (!progress)
        return NULL;
    progress->setup = *setup;
    progress->created_ms = now_ms;
    return progress;
}

void progress_destroy(struct progress_display *progress)
{
    if (!progress)
        return;
    screen_status(progress->setup.screen, "");
    free(progress);
}

static void draw(struct progress_display *progress, const struct progress_figures *figures)
{
    char text[LINE_MAX_SIZE];
    /* One column stays free: a terminal wraps when its last one is written. */
    size_t width = screen_width(progress->setup.screen) - 1;

    progress_format(text, sizeof text, width, figures, &progress->window);
    screen_status(progress->setup.screen, text);
}

static void log_unit(struct progress_display *progress, const struct progress_unit *unit,
                     double rate)
{
    if (unit->total)
        log_event(progress->setup.sink, WEIR_LOG_INFO, "progress", unit->unit,
                  weir_str("of", unit->owner), weir_uint("done", unit->done),
                  weir_uint("total", unit->total), weir_uint("per_second", (uint64_t)(rate + 0.5)));
    else
        log_event(progress->setup.sink, WEIR_LOG_INFO, "progress", unit->unit,
                  weir_str("of", unit->owner), weir_uint("done", unit->done),
                  weir_uint("per_second", (uint64_t)(rate + 0.5)));
}

static void log_units(struct progress_display *progress, const struct progress_figures *figures)
{
    for (size_t i = 0; i < figures->unit_count; i++)
        log_unit(progress, &figures->units[i], progress_window_rate(&progress->window, i));
}

/* Over the whole run, which may be too short for a window. */
static void log_units_of_all(struct progress_display *progress,
                             const struct progress_figures *figures, uint64_t now_ms)
{
    const uint64_t took_ms = now_ms > progress->created_ms ? now_ms - progress->created_ms : 1;

    for (size_t i = 0; i < figures->unit_count; i++)
        log_unit(progress, &figures->units[i],
                 (double)figures->units[i].done * 1000.0 / (double)took_ms);
}

static void log_pools(struct progress_display *progress, const struct progress_figures *figures)
{
    for (size_t i = 0; i < figures->pool_count; i++) {
        const struct progress_pool *pool = &figures->pools[i];

        log_event(progress->setup.sink, WEIR_LOG_INFO, "progress", "pool",
                  weir_str("path", pool->path), weir_uint("busy", pool->busy),
                  weir_uint("live", pool->live), weir_uint("queued", pool->queued),
                  weir_uint("room", pool->room));
    }
}

static void observe(struct progress_display *progress, uint64_t now_ms,
                    struct progress_figures *figures)
{
    memset(figures, 0, sizeof *figures);
    progress->setup.read(progress->setup.context, figures);
    progress_window_add(&progress->window, now_ms, figures);
    progress->drawn_ms = now_ms;
}

void progress_tick(struct progress_display *progress, uint64_t now_ms)
{
    struct progress_figures figures;

    if (!progress->started) {
        progress->started = true;
        progress->logged_ms = now_ms;
    } else if (now_ms - progress->drawn_ms < PROGRESS_DRAW_MS) {
        return;
    }
    observe(progress, now_ms, &figures);
    if (screen_can_show_status(progress->setup.screen)) {
        draw(progress, &figures);
    } else if (now_ms - progress->logged_ms >= PROGRESS_LOG_MS) {
        progress->logged_ms = now_ms;
        log_units(progress, &figures);
        log_pools(progress, &figures);
    }
}

void progress_finish(struct progress_display *progress, uint64_t now_ms)
{
    struct progress_figures figures;
    bool was_logged = progress->started && !screen_can_show_status(progress->setup.screen);

    screen_status(progress->setup.screen, "");
    if (!was_logged)
        return;
    observe(progress, now_ms, &figures);
    log_units_of_all(progress, &figures, now_ms);
    log_pools(progress, &figures);
}
