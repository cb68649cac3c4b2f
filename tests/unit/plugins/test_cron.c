/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a line of crontab(5) gives the times that cron(8) would, in any zone, over changes of the
 *         offset; a line that is none is refused with a reason.
 * Method: known times in zones of tables of the test; a slow search minute by minute with the
 *         calendar of libc, for random lines, whose seed is printed first; the files of tzdata
 *         beside libc.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../plugins/timer/cron.h"
#include "../host/suite.h"

#define HOUR 3600

/* Seconds of UTC of a date: 2026-03-29 00:59:00. */
static int64_t utc(const char *text)
{
    struct tm tm = { .tm_isdst = 0 };

    CU_ASSERT_PTR_NOT_NULL_FATAL(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
    return timegm(&tm);
}

static struct cron line_of(const char *text)
{
    struct cron cron;
    char reason[160] = "";

    if (!cron_read(&cron, text, reason, sizeof reason))
        CU_FAIL_FATAL("a line is refused");
    return cron;
}

static void expect_next(const struct zone *zone, const char *line, const char *after,
                        const char *wanted)
{
    struct cron cron = line_of(line);
    int64_t next = cron_next(&cron, zone, utc(after));

    if (next != utc(wanted))
        (void)printf("\n%s after %s: %" PRId64 " s from %s ", line, after, next - utc(wanted),
                     wanted);
    CU_ASSERT_EQUAL(next, utc(wanted));
}

static const struct zone nowhere = { .count = 0 };

/* --- lines ------------------------------------------------------------------------------------ */

static void test_fields_give_their_times(void)
{
    static const char *const cases[][3] = {
        { "* * * * *", "2026-11-23 13:05:59", "2026-11-23 13:06:00" },
        { "* * * * *", "2026-11-23 13:06:00", "2026-11-23 13:07:00" },
        { "30 2 * * *", "2026-11-23 02:30:00", "2026-11-24 02:30:00" },
        { "*/15 * * * *", "2026-11-23 13:46:00", "2026-11-23 14:00:00" },
        { "5-20/5,50 * * * *", "2026-11-23 13:20:00", "2026-11-23 13:50:00" },
        { "0 9-17 * * mon-fri", "2026-11-20 17:00:00", "2026-11-23 09:00:00" },
        { "0 0 * * SUN", "2026-11-23 00:00:00", "2026-11-29 00:00:00" },
        { "0 0 * * 7", "2026-11-23 00:00:00", "2026-11-29 00:00:00" },
        { "0 0 * * 5-7", "2026-11-28 00:00:00", "2026-11-29 00:00:00" },
        { "0 0 13 * fri", "2026-11-09 00:00:00", "2026-11-13 00:00:00" },
        { "0 0 13 * fri", "2026-11-14 00:00:00", "2026-11-20 00:00:00" },
        { "0 0 */2 * mon", "2026-11-23 00:00:00", "2026-12-07 00:00:00" },
        { "0 0 29 feb *", "2026-11-23 00:00:00", "2028-02-29 00:00:00" },
        { "0 0 29 2 *", "2096-03-01 00:00:00", "2104-02-29 00:00:00" },
        { "0 0 */7 3 sun", "2026-06-04 00:00:00", "2037-03-01 00:00:00" },
        { "0 0 31 * *", "2026-11-23 00:00:00", "2026-12-31 00:00:00" },
        { "@yearly", "2026-11-23 00:00:00", "2027-01-01 00:00:00" },
        { "@monthly", "2026-11-23 00:00:00", "2026-12-01 00:00:00" },
        { "@weekly", "2026-11-23 00:00:00", "2026-11-29 00:00:00" },
        { "@daily", "2026-11-23 00:00:00", "2026-11-24 00:00:00" },
        { "@hourly", "2026-11-23 00:00:00", "2026-11-23 01:00:00" },
        { " 0\t0  1 1 * ", "2026-11-23 00:00:00", "2027-01-01 00:00:00" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_next(&nowhere, cases[i][0], cases[i][1], cases[i][2]);
}

static void test_day_that_no_year_has_never_comes(void)
{
    struct cron cron = line_of("0 0 30 2 *");

    CU_ASSERT_EQUAL(cron_next(&cron, &nowhere, utc("2026-11-23 00:00:00")), INT64_MAX);
}

static void test_long_lists_are_read_whole_or_refused(void)
{
    char line[1024], reason[160] = "";
    struct cron cron;
    size_t size = 0;

    for (unsigned minute = 0; minute < 60; minute++)
        size += (size_t)snprintf(line + size, sizeof line - size, "%u,", minute);
    (void)snprintf(line + size - 1, sizeof line - size, " * * * *");
    expect_next(&nowhere, line, "2026-11-23 12:58:00", "2026-11-23 12:59:00");
    for (size = 0; size < 512; size += 2)
        memcpy(line + size, "1,", 2);
    (void)snprintf(line + size - 1, sizeof line - size, " * * * *");
    CU_ASSERT_FALSE(cron_read(&cron, line, reason, sizeof reason));
    CU_ASSERT_STRING_EQUAL(reason, "a field has more than 255 bytes");
}

static void test_other_lines_are_refused_with_a_reason(void)
{
    static const char *const lines[] = {
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * 0 *",
        "* * * * 8",
        "-1 * * * *",
        "a * * * *",
        "1- * * * *",
        "5-1 * * * *",
        "*/0 * * * *",
        "*/ * * * *",
        "1/2 * * * *",
        "1,, * * * *",
        "1,* * * *",
        "* * * foo *",
        "* * * * mo",
        "@reboot",
        "@never",
        "1.5 * * * *",
        "100 * * * *",
        "99999999999 * * * *",
        "* * * * mon-",
        "** * * * *",
        "*1 * * * *",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct cron cron;
        char reason[160] = "";

        CU_ASSERT_FALSE(cron_read(&cron, lines[i], reason, sizeof reason));
        CU_ASSERT_NOT_EQUAL(reason[0], '\0');
    }
}

/* --- changes of the offset -------------------------------------------------------------------- */

/* Clocks of Berlin in 2026. */
static struct zone berlin(void)
{
    static int64_t times[2];
    static int32_t offsets[] = { 2 * HOUR, HOUR };

    times[0] = utc("2026-03-29 01:00:00");
    times[1] = utc("2026-10-25 01:00:00");
    return (struct zone){ .times = times, .offsets = offsets, .count = 2, .before = HOUR };
}

static void test_times_that_clocks_leave_out_come_at_the_change(void)
{
    struct zone zone = berlin();

    expect_next(&zone, "30 2 * * *", "2026-03-28 01:30:00", "2026-03-29 01:00:00");
    expect_next(&zone, "30 2 * * *", "2026-03-29 01:00:00", "2026-03-30 00:30:00");
    expect_next(&zone, "0,30 2 * * *", "2026-03-29 00:59:59", "2026-03-29 01:00:00");
    expect_next(&zone, "0,30 2 * * *", "2026-03-29 01:00:00", "2026-03-30 00:00:00");
    expect_next(&zone, "30 3 * * *", "2026-03-29 00:00:00", "2026-03-29 01:30:00");
    /* Not a line that follows the clock, nor one of another day. */
    expect_next(&zone, "30 * * * *", "2026-03-29 00:30:00", "2026-03-29 01:30:00");
    expect_next(&zone, "*/20 2 * * *", "2026-03-28 23:00:00", "2026-03-30 00:00:00");
    expect_next(&zone, "30 2 30 * *", "2026-03-28 23:00:00", "2026-03-30 00:30:00");
}

static void test_times_that_come_twice_come_once(void)
{
    struct zone zone = berlin();

    expect_next(&zone, "30 2 * * *", "2026-10-24 23:00:00", "2026-10-25 00:30:00");
    expect_next(&zone, "30 2 * * *", "2026-10-25 00:30:00", "2026-10-26 01:30:00");
    expect_next(&zone, "0 3 * * *", "2026-10-25 00:30:00", "2026-10-25 02:00:00");
    expect_next(&zone, "30 * * * *", "2026-10-25 00:30:00", "2026-10-25 01:30:00");
    expect_next(&zone, "* 2 * * *", "2026-10-25 00:59:00", "2026-10-25 01:00:00");
    expect_next(&zone, "0 12 * * *", "2026-10-25 01:00:00", "2026-10-25 11:00:00");
}

/* Samoa had no 30th of December in 2011. */
static void test_larger_changes_move_the_zone(void)
{
    static int64_t times[1];
    static int32_t offsets[] = { 14 * HOUR };
    struct zone zone = { .times = times, .offsets = offsets, .count = 1, .before = -10 * HOUR };

    times[0] = utc("2011-12-30 10:00:00");
    expect_next(&zone, "0 6 * * *", "2011-12-29 16:00:00", "2011-12-30 16:00:00");
    expect_next(&zone, "0 6 30 12 *", "2011-12-29 16:00:00", "2012-12-29 16:00:00");
}

/* --- beside libc ------------------------------------------------------------------------------ */

static size_t draw(uint64_t *seed, size_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*seed >> 40) % below;
}

static bool matches(const struct cron *cron, int64_t time, const struct zone *zone)
{
    time_t local = (time_t)(time + zone_offset(zone, time));
    bool day, weekday;
    struct tm tm;

    if (!gmtime_r(&local, &tm))
        return false;
    day = cron->days >> tm.tm_mday & 1;
    weekday = cron->weekdays >> tm.tm_wday & 1;
    return (cron->minutes >> tm.tm_min & 1) && (cron->hours >> tm.tm_hour & 1) &&
           (cron->months >> (tm.tm_mon + 1) & 1) &&
           (cron->any_day || cron->any_weekday ? day && weekday : day || weekday);
}

static void test_random_lines_come_as_a_slow_search_finds_them(void)
{
    static const char *const words[] = { "*", "*/7", "3", "1-5", "2,4", "*/2", "0", "6" };
    uint64_t seed = (uint64_t)time(NULL);
    struct zone zone = berlin();

    (void)printf("seed %" PRIu64 " ", seed);
    for (uint32_t round = 0; round < 300; round++) {
        int64_t after = utc("2026-01-01 00:00:00") + (int64_t)draw(&seed, 365 * 24 * HOUR);
        int64_t found = after - after % 60 + 60;
        char line[64];
        struct cron cron;

        /* It follows the clock: the search knows nothing of daylight saving. */
        (void)snprintf(line, sizeof line, "*/%zu %s %s %s %s", 1 + draw(&seed, 59),
                       words[draw(&seed, 8)], words[draw(&seed, 6)], words[draw(&seed, 6)],
                       words[draw(&seed, 8)]);
        cron = line_of(line);
        while (!matches(&cron, found, &zone))
            found += 60;
        if (cron_next(&cron, &zone, after) != found)
            (void)printf("%s after %" PRId64 " ", line, after);
        CU_ASSERT_EQUAL(cron_next(&cron, &zone, after), found);
    }
}

static bool is_as_libc(const struct zone *zone, int64_t at)
{
    time_t time = (time_t)at;
    struct tm tm;

    CU_ASSERT_PTR_NOT_NULL_FATAL(localtime_r(&time, &tm));
    if (zone_offset(zone, at) == tm.tm_gmtoff)
        return true;
    (void)printf("%s at %" PRId64 ": %d, not %ld ", getenv("TZ"), at, zone_offset(zone, at),
                 tm.tm_gmtoff);
    return false;
}

/* The offsets of the host's zone are those of libc, from 1970 to 2120, to the second where they
 * change. */
static void expect_as_libc(const char *tz)
{
    const int64_t end = utc("2120-01-01 00:00:00");
    struct zone zone;
    bool same = true;

    CU_ASSERT_EQUAL_FATAL(setenv("TZ", tz, 1), 0);
    tzset();
    CU_ASSERT_EQUAL_FATAL(zone_open(&zone, NULL), 0);
    for (int64_t at = 0; same && at < end; at += 12345 * 97)
        same = is_as_libc(&zone, at);
    for (size_t i = 0; same && i < zone.count; i++)
        if (zone.times[i] > 0 && zone.times[i] < end)
            same = is_as_libc(&zone, zone.times[i] - 1) && is_as_libc(&zone, zone.times[i]);
    CU_ASSERT_TRUE(same);
    zone_close(&zone);
    CU_ASSERT_EQUAL(unsetenv("TZ"), 0);
}

static void test_files_of_tzdata_say_what_libc_says(void)
{
    static const char *const names[] = { "Europe/Berlin",     "America/New_York",
                                         "Asia/Kolkata",      "Australia/Lord_Howe",
                                         "Pacific/Apia",      "Etc/GMT+5",
                                         "Africa/Casablanca", "UTC" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_as_libc(names[i]);
}

static void test_zone_of_the_host_is_that_of_libc(void)
{
    static const char *const names[] = { "", ":", ":Europe/Berlin",
                                         "/usr/share/zoneinfo/Europe/Berlin",
                                         ":/usr/share/zoneinfo/Asia/Kolkata" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        time_t time = (time_t)utc("2026-07-01 00:00:00");
        struct zone zone;
        struct tm tm;

        CU_ASSERT_EQUAL_FATAL(setenv("TZ", names[i], 1), 0);
        tzset();
        CU_ASSERT_PTR_NOT_NULL_FATAL(localtime_r(&time, &tm));
        CU_ASSERT_EQUAL(zone_open(&zone, NULL), 0);
        CU_ASSERT_EQUAL(zone_offset(&zone, time), tm.tm_gmtoff);
        zone_close(&zone);
    }
}

/* --- rules ------------------------------------------------------------------------------------ */

static void test_rules_say_what_libc_says(void)
{
    static const char *const rules[] = { "CET-1CEST,M3.5.0,M10.5.0/3",
                                         "EST5EDT,M3.2.0,M11.1.0",
                                         "<+0330>-3:30<+0430>,J79/24,J263/24",
                                         "IST-1GMT0,M10.5.0,M3.5.0/1",
                                         "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
                                         "AEST-10AEDT,M10.1.0,M4.1.0/3",
                                         "XXX3YYY,59,300/1:30:15",
                                         "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
                                         "UTC0",
                                         "JST-9" };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        expect_as_libc(rules[i]);
}

static void test_what_is_no_rule_is_refused(void)
{
    static const char *const texts[] = { "CET",
                                         "CE-1",
                                         "CET-25",
                                         "CET-1CEST",
                                         "CET-1CEST,M3.5.0",
                                         "CET-1CEST,M13.5.0,M10.5.0",
                                         "CET-1CEST,M3.6.0,M10.5.0",
                                         "CET-1CEST,M3.5.7,M10.5.0",
                                         "CET-1CEST,J0,J365",
                                         "CET-1CEST,366,1",
                                         "CET-1CEST,M3.5.0/168,M10.5.0",
                                         "<CET-1",
                                         "CET-1CEST,M3.5.0,M10.5.0 " };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct zone zone;

        CU_ASSERT_EQUAL_FATAL(setenv("TZ", texts[i], 1), 0);
        if (strcmp(texts[i], "CET") != 0) /* a file of tzdata has that name */
            CU_ASSERT_EQUAL(zone_open(&zone, NULL), ENOENT);
        CU_ASSERT_EQUAL(unsetenv("TZ"), 0);
    }
}

/* zic belongs to libc. A slim file ends with the last change that its rule does not say. */
static void test_slim_files_say_what_libc_says(void)
{
    static const char *const names[] = { "Europe/Berlin", "America/New_York",  "Europe/Dublin",
                                         "Asia/Gaza",     "Africa/Casablanca", "America/Nuuk",
                                         "Asia/Kolkata" };
    char folder[] = "/tmp/weir-zones-XXXXXX";
    char text[512];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    /* All rules, and these zones alone: all of them take seconds. */
    (void)snprintf(text, sizeof text,
                   "awk '/^R/ || /^Z/ { on = /^R/ || "
                   "$2 ~ /Berlin|New_York|Dublin|Gaza|Casablanca|Nuuk|Kolkata/ } on' "
                   "/usr/share/zoneinfo/tzdata.zi | PATH=$PATH:/usr/sbin zic -b slim -d %s -",
                   folder);
    CU_ASSERT_EQUAL_FATAL(system(text), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(text, sizeof text, "%s/%s", folder, names[i]);
        expect_as_libc(text);
    }
    (void)snprintf(text, sizeof text, "rm -r %s", folder);
    CU_ASSERT_EQUAL(system(text), 0);
}

static void test_names_of_no_zone_are_refused(void)
{
    struct zone zone;

    CU_ASSERT_EQUAL(zone_open(&zone, "Mars/Olympus"), ENOENT);
    CU_ASSERT_EQUAL(zone_open(&zone, ""), EINVAL);
    CU_ASSERT_EQUAL(zone_open(&zone, "/etc/passwd"), EINVAL);
    CU_ASSERT_EQUAL(zone_open(&zone, "../../../etc/passwd"), EINVAL);
    CU_ASSERT_EQUAL(zone_open(&zone, "tzdata.zi"), EINVAL);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "fields", test_fields_give_their_times },
        { "no such day", test_day_that_no_year_has_never_comes },
        { "long lists", test_long_lists_are_read_whole_or_refused },
        { "other lines", test_other_lines_are_refused_with_a_reason },
        { "times left out", test_times_that_clocks_leave_out_come_at_the_change },
        { "times that come twice", test_times_that_come_twice_come_once },
        { "larger changes", test_larger_changes_move_the_zone },
        { "random lines", test_random_lines_come_as_a_slow_search_finds_them },
        { "tzdata", test_files_of_tzdata_say_what_libc_says },
        { "zone of the host", test_zone_of_the_host_is_that_of_libc },
        { "rules", test_rules_say_what_libc_says },
        { "no rules", test_what_is_no_rule_is_refused },
        { "slim files", test_slim_files_say_what_libc_says },
        { "names of no zone", test_names_of_no_zone_are_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin timer cron", tests);
}
