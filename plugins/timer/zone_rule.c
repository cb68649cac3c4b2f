/* SPDX-License-Identifier: MIT */
#include "zone_rule.h"

#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define HOUR 3600
#define DAY ((int64_t)86400)
#define NAME_MIN 3   /* letters of a zone's name, as POSIX wants it */
#define HOURS_MAX 24 /* of an offset */
#define TIME_MAX 167 /* hours of a change: RFC 8536, 3.3.1 */
#define CHANGE_AT (2 * HOUR)
#define FEBRUARY_28 59 /* day of a year */

/* --- reading --------------------------------------------------------------------------------- */

/* Passes a name: letters, or anything between < and >. */
static bool skip_name(const char **text)
{
    const char *at = *text;

    if (*at == '<') {
        at = strchr(at, '>');
        if (!at)
            return false;
        *text = at + 1;
        return true;
    }
    while (isalpha((unsigned char)*at))
        at++;
    if (at - *text < NAME_MIN)
        return false;
    *text = at;
    return true;
}

/* Digits only, from `min` to `max`. */
static bool read_number(const char **text, int32_t min, int32_t max, int32_t *out)
{
    const char *at = *text;
    int32_t value = 0;

    if (!isdigit((unsigned char)*at))
        return false;
    while (isdigit((unsigned char)*at) && value <= max)
        value = value * 10 + (*at++ - '0');
    *text = at;
    *out = value;
    return value >= min && value <= max;
}

/* [+-]hours[:minutes[:seconds]], in seconds. */
static bool read_time(const char **text, int32_t hours_max, int32_t *out)
{
    int32_t sign = **text == '-' ? -1 : 1;
    int32_t parts[3] = { 0 };

    *text += **text == '-' || **text == '+';
    if (!read_number(text, 0, hours_max, &parts[0]))
        return false;
    for (int part = 1; part < 3 && **text == ':'; part++) {
        (*text)++;
        if (!read_number(text, 0, 59, &parts[part]))
            return false;
    }
    *out = sign * (parts[0] * HOUR + parts[1] * 60 + parts[2]);
    return true;
}

static bool skip_char(const char **text, char wanted)
{
    if (**text != wanted)
        return false;
    (*text)++;
    return true;
}

/* Mm.w.d, Jn or n. */
static bool read_day(const char **text, struct zone_moment *moment)
{
    if (skip_char(text, 'M')) {
        moment->form = ZONE_WEEKDAY_OF_MONTH;
        return read_number(text, 1, 12, &moment->month) && skip_char(text, '.') &&
               read_number(text, 1, 5, &moment->week) && skip_char(text, '.') &&
               read_number(text, 0, 6, &moment->day);
    }
    if (skip_char(text, 'J')) {
        moment->form = ZONE_DAY_WITHOUT_LEAP;
        return read_number(text, 1, 365, &moment->day);
    }
    moment->form = ZONE_DAY_OF_YEAR;
    return read_number(text, 0, 365, &moment->day);
}

static bool read_moment(const char **text, struct zone_moment *moment)
{
    if (!skip_char(text, ',') || !read_day(text, moment))
        return false;
    moment->seconds = CHANGE_AT;
    return !skip_char(text, '/') || read_time(text, TIME_MAX, &moment->seconds);
}

/* POSIX counts west of Greenwich. */
static bool read_offset(const char **text, int32_t *out)
{
    int32_t west;

    if (!read_time(text, HOURS_MAX, &west))
        return false;
    *out = -west;
    return true;
}

bool zone_rule_read(struct zone_rule *rule, const char *text)
{
    *rule = (struct zone_rule){ 0 };
    if (!skip_name(&text) || !read_offset(&text, &rule->offset))
        return false;
    if (*text == '\0')
        return true;
    rule->has_summer = true;
    if (!skip_name(&text))
        return false;
    rule->summer = rule->offset + HOUR;
    if (*text != ',' && !read_offset(&text, &rule->summer))
        return false;
    return read_moment(&text, &rule->begin) && read_moment(&text, &rule->end) && *text == '\0';
}

/* --- the changes of a year -------------------------------------------------------------------- */

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970-01-01 to the first day of a year. */
static int64_t first_day(int64_t year)
{
    int64_t before = year - 1;

    return (year - 1970) * 365 + (before / 4 - 1969 / 4) - (before / 100 - 1969 / 100) +
           (before / 400 - 1969 / 400);
}

/* The days of a year before a month, 1 to 13. */
static int32_t days_before(int64_t year, int32_t month)
{
    static const int16_t days[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 };

    assert(month >= 1 && month <= 13); /* as read_day has it */
    return days[month - 1] + (month > 2 && is_leap(year));
}

static int64_t weekday_of_month(const struct zone_moment *moment, int64_t year)
{
    int64_t first = first_day(year) + days_before(year, moment->month);
    int32_t length = days_before(year, moment->month + 1) - days_before(year, moment->month);
    int32_t weekday = (int32_t)((first + 4) % 7); /* 1970 began on a Thursday */
    int32_t day = (moment->day - weekday + 7) % 7 + 7 * (moment->week - 1);

    return first + (day < length ? day : day - 7);
}

/* In seconds of local time. */
static int64_t moment_in(const struct zone_moment *moment, int64_t year)
{
    int64_t day = first_day(year) + moment->day;

    if (moment->form == ZONE_WEEKDAY_OF_MONTH)
        day = weekday_of_month(moment, year);
    else if (moment->form == ZONE_DAY_WITHOUT_LEAP)
        day += -1 + (moment->day > FEBRUARY_28 && is_leap(year));
    return day * DAY + moment->seconds;
}

void zone_rule_changes(const struct zone_rule *rule, int64_t year, int64_t times[2],
                       int32_t offsets[2])
{
    int64_t begin = moment_in(&rule->begin, year) - rule->offset;
    int64_t end = moment_in(&rule->end, year) - rule->summer;
    int first = begin > end; /* the index of `begin`: south of the equator summer ends first */

    times[first] = begin;
    offsets[first] = rule->summer;
    times[!first] = end;
    offsets[!first] = rule->offset;
}
