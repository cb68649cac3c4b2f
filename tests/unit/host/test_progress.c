/* SPDX-License-Identifier: MIT */
/*
 * Goal: the progress line shows progress, rate and remaining time, within its width.
 * Method: figures and times of the test's own, passed to the pure functions; the last lines of the
 * log are captured.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/run/progress.h"
#include "suite.h"

static struct progress_figures half_way(void)
{
    return (struct progress_figures){
        .units = { { "packages", "bytes", 3 << 20, 6 << 20 },
                   { "verify", "files", 50000, 0 },
                   { "verify", "bytes", (uint64_t)3 << 29, 0 } },
        .unit_count = 3,
        .pools = { { "verify", 4, 3, 128, 256 }, { "report", 1, 0, 7, 0 } },
        .pool_count = 2,
    };
}

/* Ten seconds of even work that ends with `figures`. */
static void fill_window(struct progress_window *window, const struct progress_figures *figures)
{
    struct progress_figures then = *figures;

    memset(window, 0, sizeof *window);
    for (uint64_t step = 1; step <= 100; step++) {
        for (size_t i = 0; i < figures->unit_count; i++)
            then.units[i].done = figures->units[i].done * step / 100;
        progress_window_add(window, step * 200, &then);
    }
}

static void test_line_reports_percent_left_rates_and_pools(void)
{
    struct progress_figures figures = half_way();
    struct progress_window window;
    char text[256];

    fill_window(&window, &figures);
    progress_format(text, sizeof text, 200, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, " 50%  0:20 left  packages 3.0 MiB (154 KiB/s)  "
                                 "verify 50,000 files (2,500/s), 1.5 GiB (76.8 MiB/s)  | "
                                 "verify 3/4 [####....]  report 0/1 7");
}

static void test_narrow_line_loses_whole_parts_from_the_right(void)
{
    struct progress_figures figures = half_way();
    struct progress_window window;
    char text[256];

    fill_window(&window, &figures);
    for (size_t width = 0; width < 140; width++) {
        progress_format(text, sizeof text, width, &figures, &window);
        CU_ASSERT(strlen(text) <= width);
    }
    progress_format(text, sizeof text, 46, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, " 50%  0:20 left  packages 3.0 MiB (154 KiB/s)");
    progress_format(text, sizeof text, 20, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, " 50%  0:20 left");
    progress_format(text, sizeof text, 3, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, "");
}

static void test_buffer_is_never_overrun(void)
{
    struct progress_figures figures = half_way();
    struct progress_window window;
    char text[32];

    fill_window(&window, &figures);
    memset(text, '!', sizeof text);
    progress_format(text, 24, 200, &figures, &window);
    CU_ASSERT(strlen(text) < 24);
    CU_ASSERT_EQUAL(text[24], '!');
}

static void test_first_moment_has_no_rate_and_no_time_left(void)
{
    struct progress_figures figures = half_way();
    struct progress_window window = { .count = 0 };
    char text[256];

    progress_window_add(&window, 0, &figures);
    progress_format(text, sizeof text, 60, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, " 50%  packages 3.0 MiB  verify 50,000 files, 1.5 GiB");
    CU_ASSERT_EQUAL(progress_window_rate(&window, 0), 0);
}

static void test_unknown_end_has_no_percent(void)
{
    struct progress_figures figures = { .units = { { "gen", "messages", 12, 0 } },
                                        .unit_count = 1 };
    struct progress_window window = { .count = 0 };
    char text[256];

    progress_window_add(&window, 0, &figures);
    progress_format(text, sizeof text, 60, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, "gen 12 messages");
}

static void test_rate_is_that_of_the_last_ten_seconds(void)
{
    struct progress_figures figures = { .units = { { "a", "files", 0, 0 } }, .unit_count = 1 };
    struct progress_window window = { .count = 0 };

    for (uint64_t step = 0; step < 200; step++) {
        figures.units[0].done += step < 100 ? 1000 : 2;
        progress_window_add(&window, step * 200, &figures);
    }
    CU_ASSERT_DOUBLE_EQUAL(progress_window_rate(&window, 0), 10, 0.001);
}

static void test_figure_that_goes_back_gives_no_rate(void)
{
    struct progress_figures figures = { .units = { { "a", "files", 500, 0 } }, .unit_count = 1 };
    struct progress_window window = { .count = 0 };

    progress_window_add(&window, 0, &figures);
    figures.units[0].done = 20;
    progress_window_add(&window, 1000, &figures);
    CU_ASSERT_EQUAL(progress_window_rate(&window, 0), 0);
}

static void test_other_units_begin_a_new_window(void)
{
    struct progress_figures figures = half_way();
    struct progress_window window;

    fill_window(&window, &figures);
    figures.unit_count = 1;
    progress_window_add(&window, 20200, &figures);
    CU_ASSERT_EQUAL(window.count, 1);
}

static void test_more_done_than_total_is_a_hundred_percent(void)
{
    struct progress_figures figures = { .units = { { "a", "bytes", 11, 10 } }, .unit_count = 1 };
    struct progress_window window = { .count = 0 };
    char text[64];

    progress_window_add(&window, 0, &figures);
    progress_format(text, sizeof text, 60, &figures, &window);
    CU_ASSERT_STRING_EQUAL(text, "100%  a 11 B");
}

/* --- the last lines --------------------------------------------------------------------------- */

struct last {
    uint64_t done;
    uint64_t per_second;
};

static void read_numbers(void *context, struct progress_figures *out)
{
    (void)context;
    *out = (struct progress_figures){ .units = { { "numbers", "messages", 100, 100 } },
                                      .unit_count = 1 };
}

static void keep_last(void *context, const struct log_line *line)
{
    struct last *last = context;

    for (const struct weir_field *field = line->fields; field && field->key; field++) {
        if (strcmp(field->key, "done") == 0)
            last->done = field->value.natural;
        if (strcmp(field->key, "per_second") == 0)
            last->per_second = field->value.natural;
    }
}

static void test_short_run_has_a_rate_at_its_end(void)
{
    struct last last = { 0, 0 };
    const struct log_sink sink = { .write = keep_last, .context = &last };
    const int nowhere = open("/dev/null", O_WRONLY);
    struct progress_setup setup = { .sink = &sink, .read = read_numbers };
    struct progress_display *progress;

    setup.screen = screen_create(nowhere, nowhere);
    progress = progress_create(&setup, 1000);
    progress_tick(progress, 1001);
    progress_finish(progress, 1050);
    CU_ASSERT_EQUAL(last.done, 100);
    CU_ASSERT_EQUAL(last.per_second, 2000);
    progress_destroy(progress);
    screen_destroy(setup.screen);
    close(nowhere);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "line reports all", test_line_reports_percent_left_rates_and_pools },
        { "narrow line loses whole parts", test_narrow_line_loses_whole_parts_from_the_right },
        { "buffer is never overrun", test_buffer_is_never_overrun },
        { "first moment", test_first_moment_has_no_rate_and_no_time_left },
        { "unknown end has no percent", test_unknown_end_has_no_percent },
        { "rate of the last ten seconds", test_rate_is_that_of_the_last_ten_seconds },
        { "figure that goes back", test_figure_that_goes_back_gives_no_rate },
        { "other units begin a new window", test_other_units_begin_a_new_window },
        { "more done than total", test_more_done_than_total_is_a_hundred_percent },
        { "short run", test_short_run_has_a_rate_at_its_end },
        CU_TEST_INFO_NULL,
    };

    return suite_run("progress", tests);
}
