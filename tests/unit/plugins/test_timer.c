/* SPDX-License-Identifier: MIT */
/*
 * Goal:   timer.cron sends a message at its times and at no others: with no drift, never two at a
 *         time unless it may, over jumps of the clock, without room, and over a reload.
 * Method: the source in the test kit. The test has the clock: it moves the time of day and the
 *         clock of the kit together, except where it shows a jump.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/testkit.h>

#include "../../../plugins/timer/clock.h"
#include "../../../plugins/timer/timer.h"
#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

#define MINUTE ((int64_t)60000)
#define HOUR (60 * MINUTE)

/* 2026-11-23 13:00:00 UTC, a Monday. */
#define START ((int64_t)1795438800000)

static int64_t now_ms = START;
static uint64_t kit_ms; /* how far the clock of the kit went */

int64_t clock_utc_ms(void)
{
    return now_ms;
}

static struct weir_kit *source(const char *args)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "cron");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    now_ms = START;
    kit_ms = 0;
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(kit, args), 0);
    return kit;
}

/* Moves the clock of the kit. */
static void advance(struct weir_kit *kit, uint64_t duration_ms)
{
    kit_ms += duration_ms;
    weir_kit_advance(kit, duration_ms);
}

static size_t beats(struct weir_kit *kit)
{
    size_t count = 0;

    while (weir_kit_emitted(kit, 0, count))
        count++;
    return count;
}

/* Lets time go by as the host does: the source produces after each of its timers. */
static void pass(struct weir_kit *kit, int64_t duration_ms)
{
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 8), WEIR_WAIT);
    for (int64_t step = duration_ms > HOUR ? MINUTE : 50; duration_ms > 0; duration_ms -= step) {
        now_ms += step;
        advance(kit, (uint64_t)step);
        CU_ASSERT_EQUAL(weir_kit_timer_count(kit) <= 1, true);
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 8), WEIR_WAIT);
    }
}

static void settle(struct weir_kit *kit, enum weir_result result, uint64_t delay_ms)
{
    struct weir_outcome outcome = {
        .token = 1, .result = result, .attempt = 1, .delay_ms = delay_ms
    };

    CU_ASSERT_EQUAL(weir_kit_tell(kit, &outcome), 0);
}

static void test_cron_line_gives_a_beat_at_each_of_its_times(void)
{
    struct weir_kit *kit = source("cron: '*/5 * * * *'\nzone: UTC\npayload: go\noverlap: true");

    pass(kit, 5 * MINUTE - 50);
    CU_ASSERT_EQUAL(beats(kit), 0);
    pass(kit, 50);
    CU_ASSERT_EQUAL_FATAL(beats(kit), 1);
    CU_ASSERT_EQUAL(memcmp(weir_kit_emitted(kit, 0, 0)->data, "go", 2), 0);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->size, 2);
    CU_ASSERT_STRING_EQUAL(weir_kit_emitted(kit, 0, 0)->tag->name, TIMER_BEAT_TAG);
    pass(kit, 24 * HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1 + 24 * 12);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "beats"), 1 + 24 * 12);
    CU_ASSERT_EQUAL(weir_kit_log_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_source_sleeps_until_the_beat_and_looks_at_the_clock_meanwhile(void)
{
    struct weir_kit *kit = source("cron: '0 14 * * *'\nzone: UTC");
    size_t wakes = 0;

    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    while (beats(kit) == 0) {
        now_ms += 1000;
        advance(kit, 1000);
        if (weir_kit_timer_count(kit) > 0)
            continue;
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
        wakes++;
    }
    CU_ASSERT_EQUAL(now_ms, START + HOUR);
    CU_ASSERT_EQUAL(wakes, 120);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_every_has_no_drift_and_ignores_the_time_of_day(void)
{
    struct weir_kit *kit = source("every: 1s\noverlap: true");

    pass(kit, 10 * 1000);
    CU_ASSERT_EQUAL(beats(kit), 10);
    now_ms -= 5 * HOUR;
    pass(kit, 10 * 1000);
    CU_ASSERT_EQUAL(beats(kit), 20);
    advance(kit, 700); /* late */
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    advance(kit, 600);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    CU_ASSERT_EQUAL(beats(kit), 21);
    advance(kit, 700);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    CU_ASSERT_EQUAL(beats(kit), 22);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_beat_waits_for_no_other_but_is_left_out(void)
{
    struct weir_kit *kit = source("every: 1s");

    pass(kit, 1000);
    CU_ASSERT_EQUAL(beats(kit), 1);
    pass(kit, 2000);
    CU_ASSERT_EQUAL(beats(kit), 1);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING,
                                       "beats are left out beats=1 reason=the one before"));
    settle(kit, WEIR_OUTCOME_DONE, 0);
    pass(kit, 900);
    CU_ASSERT_EQUAL(beats(kit), 1); /* not at once */
    pass(kit, 100);
    CU_ASSERT_EQUAL(beats(kit), 2);
    settle(kit, WEIR_OUTCOME_DEAD, 0);
    pass(kit, 1000);
    CU_ASSERT_EQUAL(beats(kit), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_inspect(kit, NULL), "left_out=2\n"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_beat_that_is_retried_is_sent_again(void)
{
    struct weir_kit *kit = source("every: 10s");

    pass(kit, 10000);
    settle(kit, WEIR_OUTCOME_RETRY, 2000);
    pass(kit, 1950);
    CU_ASSERT_EQUAL(beats(kit), 1);
    pass(kit, 100);
    CU_ASSERT_EQUAL_FATAL(beats(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 1)->attempt, 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_target_without_room_gets_one_beat_when_it_has(void)
{
    struct weir_kit *kit = source("every: 1s\noverlap: true");

    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    advance(kit, 1000);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    advance(kit, 3500);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    CU_ASSERT_TRUE(
        weir_kit_has_logged(kit, WEIR_LOG_WARNING, "beats=3 reason=the target has no room"));
    weir_kit_limit(kit, UINT32_MAX, 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    CU_ASSERT_EQUAL(beats(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_beat_that_waited_long_for_room_is_not_missed(void)
{
    static const char *const args[] = { "every: 1h\nmissed: skip",
                                        "cron: '0 * * * *'\nzone: UTC\nmissed: skip" };

    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        struct weir_kit *kit = source(args[i]);

        CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
        /* A source is not asked for messages while its target has no room. */
        now_ms += 2 * HOUR + 5 * MINUTE;
        advance(kit, (uint64_t)(2 * HOUR + 5 * MINUTE));
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
        CU_ASSERT_EQUAL(beats(kit), 1);
        CU_ASSERT_TRUE(
            weir_kit_has_logged(kit, WEIR_LOG_WARNING, "beats=1 reason=the target had no room"));
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

/* --- jumps ------------------------------------------------------------------------------------ */

/* The machine slept, or its clock was set. */
static void jump(struct weir_kit *kit, int64_t by_ms)
{
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    now_ms += by_ms;
    advance(kit, 30000);
    CU_ASSERT_EQUAL(weir_kit_timer_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
}

static void test_jump_past_beats_gives_one_or_none(void)
{
    struct weir_kit *kit = source("cron: '0 * * * *'\nzone: UTC");

    jump(kit, 3 * HOUR + 10 * MINUTE);
    CU_ASSERT_EQUAL(beats(kit), 1);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "beats=2 reason=the clock has"));
    settle(kit, WEIR_OUTCOME_DONE, 0);
    pass(kit, 50 * MINUTE);
    CU_ASSERT_EQUAL(beats(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);

    kit = source("cron: '0 * * * *'\nzone: UTC\nmissed: skip");
    jump(kit, 3 * HOUR + 10 * MINUTE);
    CU_ASSERT_EQUAL(beats(kit), 0);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "beats=3 reason=the clock has"));
    jump(kit, 50 * MINUTE + 5000); /* late, but not missed */
    CU_ASSERT_EQUAL(beats(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_jump_of_years_is_not_counted_beat_by_beat(void)
{
    struct weir_kit *kit = source("cron: '* * * * *'\nzone: UTC\noverlap: true");

    jump(kit, 20 * 365 * 24 * HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1);
    pass(kit, MINUTE);
    CU_ASSERT_EQUAL(beats(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = source("every: 1ms\noverlap: true");
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    advance(kit, (uint64_t)365 * 24 * HOUR);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    CU_ASSERT_EQUAL(beats(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_clock_that_is_set_back_repeats_no_beat(void)
{
    struct weir_kit *kit = source("cron: '0 0-23 * * *'\nzone: UTC\noverlap: true");

    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1);
    jump(kit, -10 * MINUTE);
    pass(kit, 10 * MINUTE);
    CU_ASSERT_EQUAL(beats(kit), 1);
    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 2);
    /* That is a correction. */
    jump(kit, -5 * HOUR);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "clock was set back"));
    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* As cron(8): only lines with a fixed minute and hour wait for what they have had. */
static void test_line_that_follows_the_clock_goes_on_when_that_is_set_back(void)
{
    static const char *const lines[] = { "cron: '* * * * *'", "cron: '*/10 3 * * *'",
                                         "cron: '0 * * * *'" };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct weir_kit *kit;
        char args[64];

        (void)snprintf(args, sizeof args, "%s\nzone: UTC\noverlap: true", lines[i]);
        kit = source(args);
        pass(kit, 15 * HOUR); /* 04:00 of the next day */
        jump(kit, -2 * HOUR); /* 02:00 */
        CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "clock was set back"));
        size_t before = beats(kit);
        pass(kit, 2 * HOUR);
        CU_ASSERT_EQUAL(beats(kit) - before, i == 0 ? 120 : i == 1 ? 6 : 2);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

static void test_clock_that_is_corrected_by_seconds_repeats_no_beat(void)
{
    struct weir_kit *kit = source("cron: '* * * * *'\nzone: UTC\noverlap: true");

    pass(kit, MINUTE);
    jump(kit, -2000);
    pass(kit, MINUTE - 1000);
    CU_ASSERT_EQUAL(beats(kit), 1);
    pass(kit, 3000);
    CU_ASSERT_EQUAL(beats(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- a reload --------------------------------------------------------------------------------- */

/* Closes the source, lets time go by, and opens another one in its place. */
static struct weir_kit *reloaded(struct weir_kit *kit, const char *args, int64_t meanwhile_ms)
{
    struct weir_kit *other = weir_kit_create(&weir_plugin_v1, "cron");
    const void *position;
    size_t size;

    weir_kit_close(kit, WEIR_END_REPLACED);
    position = weir_kit_left(kit, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(position);
    now_ms += meanwhile_ms;
    weir_kit_advance(other, kit_ms);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(other, args), 0);
    weir_kit_resume(other, position, size);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_produce(other, 1), WEIR_WAIT);
    return other;
}

static void test_reload_neither_loses_nor_doubles_a_beat(void)
{
    static const char *const args = "cron: '0 * * * *'\nzone: UTC";
    struct weir_kit *kit = source(args);

    pass(kit, HOUR - 1000);
    kit = reloaded(kit, args, 5000);
    CU_ASSERT_EQUAL(beats(kit), 1); /* it was due between the two */
    settle(kit, WEIR_OUTCOME_DONE, 0);
    kit = reloaded(kit, args, 0);
    CU_ASSERT_EQUAL(beats(kit), 0);
    weir_kit_limit(kit, 0, WEIR_EFULL);
    now_ms += HOUR;
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_MORE);
    kit = reloaded(kit, args, 0);
    CU_ASSERT_EQUAL(beats(kit), 1); /* it waited for room */
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_reload_keeps_a_beat_that_waits_for_its_retry(void)
{
    static const char *const args[] = { "every: 1h", "cron: '0 * * * *'\nzone: UTC",
                                        "cron: '0 * * * *'\nzone: UTC\nmissed: skip" };

    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        struct weir_kit *kit = source(args[i]);

        pass(kit, HOUR);
        CU_ASSERT_EQUAL(beats(kit), 1);
        settle(kit, WEIR_OUTCOME_RETRY, (uint64_t)(5 * MINUTE));
        pass(kit, 2 * MINUTE);
        kit = reloaded(kit, args[i], 0);
        kit = reloaded(kit, args[i], 0);
        CU_ASSERT_EQUAL(beats(kit), 0); /* not before its time */
        pass(kit, 3 * MINUTE);
        CU_ASSERT_EQUAL_FATAL(beats(kit), 1);
        CU_ASSERT_EQUAL(weir_kit_emitted(kit, 0, 0)->attempt, 2);
        settle(kit, WEIR_OUTCOME_DONE, 0);
        pass(kit, 55 * MINUTE);
        CU_ASSERT_EQUAL(beats(kit), 2);
        CU_ASSERT_EQUAL(weir_kit_log_count(kit), 0);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

/* A source cannot know whether another one follows it. */
static void test_end_with_a_beat_that_waits_is_in_the_log(void)
{
    for (int waits = 0; waits < 2; waits++) {
        struct weir_kit *kit = source("every: 1h");

        pass(kit, HOUR);
        settle(kit, waits ? WEIR_OUTCOME_RETRY : WEIR_OUTCOME_DONE, (uint64_t)(5 * MINUTE));
        weir_kit_close(kit, WEIR_END_SHUTDOWN);
        CU_ASSERT_EQUAL(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "a beat waits attempt=2"),
                        waits == 1);
        CU_ASSERT_EQUAL(weir_kit_log_count(kit), (size_t)waits);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

static void test_reload_after_the_clock_was_set_back_repeats_no_beat(void)
{
    static const char *const args = "cron: '0 0-23 * * *'\nzone: UTC\noverlap: true";
    struct weir_kit *kit = source(args);

    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1);
    jump(kit, -10 * MINUTE);
    kit = reloaded(kit, args, 0);
    kit = reloaded(kit, args, -5 * MINUTE);
    pass(kit, 15 * MINUTE);
    CU_ASSERT_EQUAL(beats(kit), 0);
    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1);
    /* Corrections. */
    jump(kit, -5 * HOUR);
    kit = reloaded(kit, args, 0);
    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1);
    kit = reloaded(kit, args, -5 * HOUR);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "clock was set back"));
    pass(kit, HOUR);
    CU_ASSERT_EQUAL(beats(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void expect_mistake(const char *args, const char *part)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "cron");

    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, args));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), part));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_wrong_options_are_named(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "cron");

    expect_mistake("", "give either `cron` or `every`");
    expect_mistake("cron: '@daily'\nevery: 1s", "give either `cron` or `every`");
    expect_mistake("every: 1s\nzone: UTC", "zone: belongs to `cron`");
    expect_mistake("cron: '@daily'\nzone: ''", "zone: `` is no name of tzdata");
    expect_mistake("cron: '@daily'\nzone: /etc/localtime", "is no name of tzdata");
    expect_mistake("cron: '@daily'\nzone: ../localtime", "is no name of tzdata");
    expect_mistake("cron: '0 25 * * *'", "hour: 25 is not of 0..23");
    expect_mistake("cron: '0 0 30 2 *'", "no year has such a day");
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "cron: '@daily'\nzone: Mars/Olympus"), WEIR_EINVALID);
    CU_ASSERT_TRUE(weir_kit_has_logged(kit, WEIR_LOG_ERROR, "time zone is not known"));
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit), "tzdata has no time zone Mars/Olympus");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_memory_that_is_out_is_awaited(void)
{
    for (uint32_t nth = 1; nth <= 3; nth++) { /* the message, its origin, the timer */
        struct weir_kit *kit = source("every: 1s");
        int status;

        CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
        advance(kit, 1000);
        weir_kit_fail_allocation(kit, nth);
        status = weir_kit_produce(kit, 1);
        CU_ASSERT_EQUAL(status, nth < 3 ? WEIR_WAIT : WEIR_ENOMEM);
        advance(kit, 100);
        CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
        CU_ASSERT_EQUAL(beats(kit), 1);
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "cron line", test_cron_line_gives_a_beat_at_each_of_its_times },
        { "sleep", test_source_sleeps_until_the_beat_and_looks_at_the_clock_meanwhile },
        { "every", test_every_has_no_drift_and_ignores_the_time_of_day },
        { "overlap", test_beat_waits_for_no_other_but_is_left_out },
        { "retry", test_beat_that_is_retried_is_sent_again },
        { "no room", test_target_without_room_gets_one_beat_when_it_has },
        { "long without room", test_beat_that_waited_long_for_room_is_not_missed },
        { "jump", test_jump_past_beats_gives_one_or_none },
        { "jump of years", test_jump_of_years_is_not_counted_beat_by_beat },
        { "line follows the clock",
          test_line_that_follows_the_clock_goes_on_when_that_is_set_back },
        { "clock corrected", test_clock_that_is_corrected_by_seconds_repeats_no_beat },
        { "clock set back", test_clock_that_is_set_back_repeats_no_beat },
        { "reload", test_reload_neither_loses_nor_doubles_a_beat },
        { "reload, retry", test_reload_keeps_a_beat_that_waits_for_its_retry },
        { "end, retry", test_end_with_a_beat_that_waits_is_in_the_log },
        { "reload, clock set back", test_reload_after_the_clock_was_set_back_repeats_no_beat },
        { "wrong options", test_wrong_options_are_named },
        { "memory", test_memory_that_is_out_is_awaited },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin timer", tests);
}
