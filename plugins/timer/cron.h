/* SPDX-License-Identifier: MIT */
/*
 * cron.h - a line of times, as crontab(5) has it: minute, hour, day of the month, month, day of
 * the week.
 *
 * A field is `*`, a number, a name of three letters (months and days of the week), a range `a-b`,
 * or a list of these with commas. A range or `*` may have a step `/n`. Day 7 of the week is Sunday.
 * When both fields of days are given, either of them may match. @yearly, @annually, @monthly,
 * @weekly, @daily, @midnight and @hourly stand for the usual lines.
 */
#ifndef CRON_H
#define CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone.h"

struct cron {
    uint64_t minutes; /* bit n: the minute n matches; likewise the others */
    uint32_t hours;
    uint32_t days;
    uint32_t months;
    uint32_t weekdays;      /* bit 0: Sunday */
    bool any_day;           /* the field of days begins with * */
    bool any_weekday;       /* likewise */
    bool follows_the_clock; /* minute or hour begins with *: it takes part in no change of the
                             * clock */
};

/* Reads a line. False: `out_reason` says why, for people. Borrows. */
bool cron_read(struct cron *cron, const char *line, char *out_reason, size_t reason_size);

/*
 * The first time after `after`, in seconds of UTC, that matches; INT64_MAX: there is none within
 * 41 years.
 *
 * When a zone changes its offset by up to three hours, lines with a fixed minute and hour behave as
 * in cron(8): times in skipped hours fire once, right after the change; times in repeated hours
 * fire the first time only. Other lines follow the clock.
 */
int64_t cron_next(const struct cron *cron, const struct zone *zone, int64_t after);

#endif
