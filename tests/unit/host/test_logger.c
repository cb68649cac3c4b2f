/* SPDX-License-Identifier: MIT */
/*
 * Goal: the log is written line by line, repeated lines are limited and counted, and a stuck reader
 * costs lines, which are counted, but no time. Shows promise H3.
 * Method: standard error is a pipe; a clock that the test moves.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/log/logger.h"
#include "suite.h"

struct stage {
    int reader;
    int writer;
    uint64_t now_ns;
    struct screen *screen;
    struct logger *logger;
};

static uint64_t read_now(void *context)
{
    return *(uint64_t *)context;
}

static uint64_t no_date(void)
{
    return 0;
}

static void stage_begin(struct stage *stage, enum weir_log_level level)
{
    struct logger_setup setup = { .date_us = no_date, .level = level, .style.zone_s = 7200 };
    int ends[2] = { -1, -1 };

    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    stage->reader = ends[0];
    stage->writer = ends[1];
    stage->now_ns = 5000000000u;
    stage->screen = screen_create(stage->writer, stage->writer);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage->screen);
    setup.screen = stage->screen;
    setup.clock = (struct clock){ .now_ns = read_now, .context = &stage->now_ns };
    stage->logger = logger_create(&setup);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage->logger);
}

static void stage_end(struct stage *stage)
{
    logger_destroy(stage->logger);
    screen_destroy(stage->screen);
    close(stage->reader);
    close(stage->writer);
}

/* The text written since the last call. */
static const char *output(struct stage *stage)
{
    static char text[65536];
    ssize_t size = read(stage->reader, text, sizeof text - 1);

    text[size > 0 ? size : 0] = '\0';
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        count++;
    return count;
}

static void test_line_below_the_level_is_dropped(void)
{
    struct stage stage;

    stage_begin(&stage, WEIR_LOG_WARNING);
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "quiet");
    log_event(logger_sink(stage.logger), WEIR_LOG_WARNING, "c", "loud");
    logger_set_level(stage.logger, WEIR_LOG_INFO);
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "now", weir_uint("n", 1));
    CU_ASSERT_STRING_EQUAL(
        output(&stage), "ts=1970-01-01T00:00:00.000Z level=warning component=c event=\"loud\"\n"
                        "ts=1970-01-01T00:00:00.000Z level=info component=c event=\"now\" n=1\n");
    stage_end(&stage);
}

/* Pools of a made-up file: `loud` with levels inside, `quiet`, and one that has none of its own. */
static struct log_levels *make_levels(void)
{
    struct settings_pool pools[] = {
        { .path = "quiet", .parent = SETTINGS_NONE, .log_level = WEIR_LOG_ERROR },
        { .path = "loud", .parent = SETTINGS_NONE, .log_level = WEIR_LOG_DEBUG },
        { .path = "loud/as_above", .parent = 1, .log_level = SETTINGS_LEVEL_HOST },
        { .path = "loud/less", .parent = 1, .log_level = WEIR_LOG_WARNING },
        { .path = "loudest", .parent = SETTINGS_NONE, .log_level = SETTINGS_LEVEL_HOST },
    };
    struct settings settings = { .pool_count = 5, .pools = pools };
    struct log_levels *levels = NULL;

    CU_ASSERT_EQUAL_FATAL(log_levels_create(&settings, &levels), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(levels);
    return levels;
}

static bool passes(struct stage *stage, enum weir_log_level level, const char *component)
{
    stage->now_ns += 1000000000u;
    log_event(logger_sink(stage->logger), level, component, "event");
    return output(stage)[0] != '\0';
}

/* promise H6 */
static void test_pool_logs_by_its_own_level(void)
{
    struct stage stage;

    stage_begin(&stage, WEIR_LOG_INFO);
    logger_set_levels(stage.logger, make_levels());
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_INFO, "quiet#0"));
    CU_ASSERT_TRUE(passes(&stage, WEIR_LOG_ERROR, "quiet"));
    CU_ASSERT_TRUE(passes(&stage, WEIR_LOG_DEBUG, "loud"));
    CU_ASSERT_TRUE(passes(&stage, WEIR_LOG_DEBUG, "loud/as_above#17"));
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_INFO, "loud/less#0"));
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_DEBUG, "loudest#0"));
    CU_ASSERT_TRUE(passes(&stage, WEIR_LOG_INFO, "loudest#0"));
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_DEBUG, "lou"));
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_DEBUG, NULL));
    /* The host's level may change beside them; and they may all go. */
    logger_set_level(stage.logger, WEIR_LOG_ERROR);
    CU_ASSERT_TRUE(passes(&stage, WEIR_LOG_DEBUG, "loud#0"));
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_WARNING, "loudest#0"));
    logger_set_levels(stage.logger, NULL);
    CU_ASSERT_FALSE(passes(&stage, WEIR_LOG_WARNING, "loud#0"));
    stage_end(&stage);
}

static void test_pools_without_a_level_need_no_table(void)
{
    struct settings_pool pool = { .path = "work",
                                  .parent = SETTINGS_NONE,
                                  .log_level = SETTINGS_LEVEL_HOST };
    struct settings settings = { .pool_count = 1, .pools = &pool };
    struct log_levels *levels = make_levels();

    log_levels_destroy(levels);
    CU_ASSERT_EQUAL(log_levels_create(&settings, &levels), 0);
    CU_ASSERT_PTR_NULL(levels);
}

static void test_repeated_line_is_limited_and_counted(void)
{
    struct stage stage;
    const char *text;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned i = 0; i < 25; i++)
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again", weir_uint("i", i));
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "other");
    text = output(&stage);
    CU_ASSERT_EQUAL(count_of(text, "again"), LOG_LIMIT_LINES);
    CU_ASSERT_EQUAL(count_of(text, "other"), 1);
    logger_tick(stage.logger);
    CU_ASSERT_STRING_EQUAL(output(&stage), "");
    stage.now_ns += 1000000000u;
    logger_tick(stage.logger);
    CU_ASSERT_PTR_NOT_NULL(strstr(output(&stage), "component=c event=\"again\" repeated=15\n"));
    logger_tick(stage.logger);
    CU_ASSERT_STRING_EQUAL(output(&stage), "");
    stage_end(&stage);
}

/* The figures at the end of a run, for any names of pools; a plugin may use the same words. */
static void test_answer_is_never_counted_instead(void)
{
    struct stage stage;
    const char *text;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned i = 0; i < 100; i++) {
        log_answer(logger_sink(stage.logger), WEIR_LOG_INFO, "lines", "source", weir_uint("n", i));
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "host", "ledger", weir_uint("n", i));
    }
    text = output(&stage);
    CU_ASSERT_EQUAL(count_of(text, "source"), 100);
    CU_ASSERT_EQUAL(count_of(text, "ledger"), LOG_LIMIT_LINES);
    stage_end(&stage);
}

static void test_next_second_reports_before_the_line(void)
{
    struct stage stage;
    const char *text;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned i = 0; i < 11; i++)
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again");
    (void)output(&stage);
    stage.now_ns += 1000000000u;
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again");
    text = output(&stage);
    CU_ASSERT_EQUAL(count_of(text, "again"), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "repeated=1\nts="));
    stage_end(&stage);
}

/* One event of many workers is one kind: promise H3. */
static void test_lines_of_many_workers_are_one_kind(void)
{
    struct stage stage;
    char worker[32];
    const char *text;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned i = 0; i < 512; i++) {
        (void)snprintf(worker, sizeof worker, "work#%u", i);
        log_event(logger_sink(stage.logger), WEIR_LOG_WARNING, worker, "worker failed");
    }
    CU_ASSERT_EQUAL(count_of(output(&stage), "\n"), LOG_LIMIT_LINES);
    stage.now_ns += 1000000000u;
    logger_tick(stage.logger);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(output(&stage), "component=work event=\"worker failed\" repeated=502\n"));
    /* Of two pools nothing but the event is the same. */
    for (unsigned i = 0; i < 20; i++)
        log_event(logger_sink(stage.logger), WEIR_LOG_WARNING, i % 2 ? "north#0" : "south#0",
                  "worker failed");
    text = output(&stage);
    CU_ASSERT_EQUAL(count_of(text, "\n"), LOG_LIMIT_LINES);
    logger_flush(stage.logger);
    CU_ASSERT_PTR_NOT_NULL(strstr(output(&stage), "component=log event=\"worker failed\" "
                                                  "repeated=10\n"));
    stage_end(&stage);
}

/* Ten minutes of a line that never ends: promise H3. */
static void test_line_that_goes_on_is_reported_ever_less_often(void)
{
    struct stage stage;
    size_t lines = 0;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned tenth = 0; tenth < 6000; tenth++) {
        for (unsigned i = 0; i < 20; i++)
            log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again");
        logger_tick(stage.logger);
        lines += count_of(output(&stage), "\n");
        stage.now_ns += 100000000u;
    }
    /* Windows of 1, 2, 4, ... 64 seconds: 6 short ones, 8 long ones, and the one under way. */
    CU_ASSERT_EQUAL(lines, 15u * (LOG_LIMIT_LINES + 1) - 1);
    /* A window without lines to count: the next is of a second again. */
    for (unsigned i = 0; i < 2; i++) {
        stage.now_ns += UINT64_C(1000000000) * LOG_LIMIT_WINDOW_S_MAX;
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again");
    }
    stage.now_ns += 1000000000u;
    (void)output(&stage);
    for (unsigned i = 0; i < 11; i++)
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again");
    stage.now_ns += 1000000000u;
    logger_tick(stage.logger);
    CU_ASSERT_PTR_NOT_NULL(strstr(output(&stage), " repeated=1\n"));
    stage_end(&stage);
}

/* Texts that are never the same cannot make the log grow without bound: promise H3. */
static void test_lines_of_too_many_kinds_are_one(void)
{
    struct stage stage;
    char event[32];
    const char *text;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(event, sizeof event, "file %u", i);
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", event);
    }
    CU_ASSERT_EQUAL(count_of(output(&stage), "\n"), LOG_LIMIT_KINDS + LOG_LIMIT_LINES);
    stage.now_ns += 1000000000u;
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "file 1000");
    logger_tick(stage.logger);
    text = output(&stage);
    CU_ASSERT_EQUAL(count_of(text, "file 1000"), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "component=c event=\"lines of further kinds\" "
                                        "repeated=926\n"));
    stage_end(&stage);
}

static void test_destroy_logs_the_counted_lines(void)
{
    struct stage stage;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (unsigned i = 0; i < 12; i++)
        log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "again");
    (void)output(&stage);
    logger_destroy(stage.logger);
    stage.logger = NULL;
    CU_ASSERT_PTR_NOT_NULL(strstr(output(&stage), "repeated=2\n"));
    stage_end(&stage);
}

static void test_stuck_reader_costs_lines_that_are_counted(void)
{
    static char filler[65536];
    struct stage stage;

    stage_begin(&stage, WEIR_LOG_INFO);
    while (write(stage.writer, filler, sizeof filler) > 0)
        continue;
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "one");
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "two");
    while (read(stage.reader, filler, sizeof filler) > 0)
        continue;
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "three");
    CU_ASSERT_PTR_NOT_NULL(strstr(output(&stage), "event=\"three\"\n"
                                                  "ts=1970-01-01T00:00:00.000Z level=warning "
                                                  "component=log event=\"lines lost, their reader "
                                                  "was too slow\" lost=2\n"));
    stage_end(&stage);
}

static void test_format_changes_while_running(void)
{
    struct stage stage;

    stage_begin(&stage, WEIR_LOG_INFO);
    logger_set_format(stage.logger, LOG_JSON);
    log_event(logger_sink(stage.logger), WEIR_LOG_INFO, "c", "e");
    CU_ASSERT_EQUAL(output(&stage)[0], '{');
    stage_end(&stage);
}

static void test_journal_is_known_by_device_and_inode(void)
{
    char stream[64];
    struct stat status;
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);

    CU_ASSERT_EQUAL_FATAL(fstat(file, &status), 0);
    (void)snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)status.st_dev,
                   (uintmax_t)status.st_ino);
    CU_ASSERT_TRUE(logger_is_journal(file, stream));
    CU_ASSERT_FALSE(logger_is_journal(file, "1:2"));
    CU_ASSERT_FALSE(logger_is_journal(file, "x"));
    CU_ASSERT_FALSE(logger_is_journal(file, NULL));
    close(file);
}

#define THREADS 4
#define LINES 200

/* One thread that logs its own event over and over. */
struct writer {
    pthread_t thread;
    struct stage *stage;
    const char *event;
};

static void *write_lines(void *context)
{
    struct writer *writer = context;

    for (unsigned i = 0; i < LINES; i++)
        log_event(logger_sink(writer->stage->logger), WEIR_LOG_INFO, "c", writer->event,
                  weir_uint("i", i));
    return NULL;
}

static void test_lines_of_many_threads_are_whole_and_all_counted(void)
{
    static const char *const events[THREADS] = { "north", "east", "south", "west" };
    struct writer writers[THREADS];
    struct stage stage;
    const char *text;

    stage_begin(&stage, WEIR_LOG_INFO);
    for (size_t i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){ .stage = &stage, .event = events[i] };
        CU_ASSERT_EQUAL_FATAL(pthread_create(&writers[i].thread, NULL, write_lines, &writers[i]),
                              0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(writers[i].thread, NULL);
    logger_destroy(stage.logger);
    stage.logger = NULL;
    text = output(&stage);
    CU_ASSERT_EQUAL(count_of(text, "\nts=") + 1, THREADS * (LOG_LIMIT_LINES + 1));
    CU_ASSERT_EQUAL(count_of(text, "\n"), THREADS * (LOG_LIMIT_LINES + 1));
    CU_ASSERT_EQUAL(count_of(text, " repeated=190\n"), THREADS);
    stage_end(&stage);
}

/* A line of a crash, which reads no clock of its own, may be the first one. */
static void test_zone_is_that_of_the_setup_before_a_line(void)
{
    struct stage stage;

    stage_begin(&stage, WEIR_LOG_INFO);
    CU_ASSERT_EQUAL(logger_style(stage.logger).zone_s, 7200);
    stage_end(&stage);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "line below the level is dropped", test_line_below_the_level_is_dropped },
        { "a pool's own level", test_pool_logs_by_its_own_level },
        { "no pool has its own", test_pools_without_a_level_need_no_table },
        { "repeated line is limited and counted", test_repeated_line_is_limited_and_counted },
        { "answers are all written", test_answer_is_never_counted_instead },
        { "next second reports before the line", test_next_second_reports_before_the_line },
        { "many workers", test_lines_of_many_workers_are_one_kind },
        { "a line that goes on", test_line_that_goes_on_is_reported_ever_less_often },
        { "too many kinds", test_lines_of_too_many_kinds_are_one },
        { "destroy reports what is counted", test_destroy_logs_the_counted_lines },
        { "stuck reader costs lines", test_stuck_reader_costs_lines_that_are_counted },
        { "format changes while running", test_format_changes_while_running },
        { "zone before a line", test_zone_is_that_of_the_setup_before_a_line },
        { "lines of many threads", test_lines_of_many_threads_are_whole_and_all_counted },
        { "journal is known", test_journal_is_known_by_device_and_inode },
        CU_TEST_INFO_NULL,
    };

    return suite_run("logger", tests);
}
