/* SPDX-License-Identifier: MIT */
#include "cron.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MINUTE 60
#define HOUR 3600
#define DAY 86400
/* Larger changes of the offset move the zone as a whole, as when Samoa left out a day. */
#define SAVING_MAX (3 * HOUR)
/* From one 29th of February that is a Sunday to the next it may take 40 years. */
#define YEARS_MAX 41
#define FIELDS 5u
/* A list of all minutes has 169 bytes. */
#define WORD_SIZE 256u

struct field {
    const char *name;
    unsigned least, most;
    const char *names; /* of three letters each; the first has the number `first` */
    unsigned first;
};

static const struct field fields[FIELDS] = {
    { "minute", 0, 59, "", 0 },
    { "hour", 0, 23, "", 0 },
    { "day of the month", 1, 31, "", 0 },
    { "month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec", 1 },
    { "day of the week", 0, 7, "sunmontuewedthufrisat", 0 },
};

static const char *const short_lines[][2] = {
    { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
    { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
    { "@hourly", "0 * * * *" },
};

/* --- reading ---------------------------------------------------------------------------------- */

/* Takes a number or a name. */
static bool take_value(const struct field *field, const char **text, unsigned *out_value)
{
    unsigned value = 0;

    for (size_t i = 0; field->names[i]; i += 3) {
        if (strncasecmp(*text, field->names + i, 3) == 0) {
            *text += 3;
            *out_value = field->first + (unsigned)(i / 3);
            return true;
        }
    }
    if (!isdigit((unsigned char)**text))
        return false;
    for (; isdigit((unsigned char)**text); (*text)++) {
        value = 10 * value + (unsigned)(**text - '0');
        if (value > 99)
            return false;
    }
    *out_value = value;
    return true;
}

/* Takes one item of the list. */
static bool take_item(const struct field *field, const char **text, uint64_t *bits)
{
    unsigned from = field->least, to = field->most, step = 1;

    if (**text == '*') {
        (*text)++;
    } else {
        if (!take_value(field, text, &from))
            return false;
        to = from;
        if (**text == '-') {
            (*text)++;
            if (!take_value(field, text, &to))
                return false;
        } else if (**text == '/') {
            return false; /* a step of one number */
        }
    }
    if (**text == '/') {
        (*text)++;
        if (!isdigit((unsigned char)**text) || !take_value(field, text, &step) || step == 0)
            return false;
    }
    if (from < field->least || to > field->most || from > to)
        return false;
    for (unsigned value = from; value <= to; value += step)
        *bits |= (uint64_t)1 << value;
    return true;
}

static bool read_field(const struct field *field, const char *word, uint64_t *out_bits)
{
    *out_bits = 0;
    while (take_item(field, &word, out_bits)) {
        if (*word == '\0')
            return true;
        if (*word++ != ',')
            return false;
    }
    return false;
}

static const char *expand(const char *line)
{
    for (size_t i = 0; i < sizeof short_lines / sizeof *short_lines; i++) {
        if (strcmp(line, short_lines[i][0]) == 0)
            return short_lines[i][1];
    }
    return line;
}

/* Takes the next word, which is empty at the end. False when it is too long. */
static bool take_word(const char **line, char *out_word)
{
    size_t size;

    *line += strspn(*line, " \t");
    size = strcspn(*line, " \t");
    if (size >= WORD_SIZE)
        return false;
    memcpy(out_word, *line, size);
    out_word[size] = '\0';
    *line += size;
    return true;
}

bool cron_read(struct cron *cron, const char *line, char *out_reason, size_t reason_size)
{
    char words[FIELDS + 1][WORD_SIZE];
    uint64_t bits[FIELDS];

    line = expand(line);
    for (size_t i = 0; i <= FIELDS; i++) {
        if (!take_word(&line, words[i])) {
            (void)snprintf(out_reason, reason_size, "a field has more than %u bytes",
                           WORD_SIZE - 1);
            return false;
        }
    }
    if (!words[FIELDS - 1][0] || words[FIELDS][0]) {
        (void)snprintf(out_reason, reason_size,
                       "must be five fields (minute, hour, day, month, day of the week) or @daily "
                       "and the like");
        return false;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        if (!read_field(&fields[i], words[i], &bits[i])) {
            (void)snprintf(out_reason, reason_size, "%s: %.80s is not of %u..%u", fields[i].name,
                           words[i], fields[i].least, fields[i].most);
            return false;
        }
    }
    *cron = (struct cron){
        .minutes = bits[0],
        .hours = (uint32_t)bits[1],
        .days = (uint32_t)bits[2],
        .months = (uint32_t)bits[3],
        .weekdays = (uint32_t)((bits[4] | bits[4] >> 7) & 0x7f),
        .any_day = words[2][0] == '*',
        .any_weekday = words[4][0] == '*',
        .follows_the_clock = words[0][0] == '*' || words[1][0] == '*',
    };
    return true;
}

/* --- dates ------------------------------------------------------------------------------------ */

/* A time as clocks of the zone show it. */
struct civil {
    unsigned month, day, weekday, hour, minute;
};

static int64_t floor_div(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* Of the Gregorian calendar: days from 1970-01-01, counted in years that begin in March. */
static struct civil civil_of(int64_t local)
{
    int64_t days = floor_div(local, DAY);
    unsigned second = (unsigned)(local - days * DAY);
    int64_t shifted = days + 719468; /* from 0000-03-01 */
    int64_t era = floor_div(shifted, 146097);
    unsigned of_era = (unsigned)(shifted - era * 146097);
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153; /* 0 = March */

    return (struct civil){
        .month = month < 10 ? month + 3 : month - 9,
        .day = of_year - (153 * month + 2) / 5 + 1,
        .weekday = (unsigned)(((days + 4) % 7 + 7) % 7),
        .hour = second / HOUR,
        .minute = second % HOUR / MINUTE,
    };
}

static bool has(uint64_t bits, unsigned number)
{
    return bits >> number & 1;
}

static bool is_day(const struct cron *cron, const struct civil *at)
{
    bool day = has(cron->days, at->day), weekday = has(cron->weekdays, at->weekday);

    if (!has(cron->months, at->month))
        return false;
    return cron->any_day || cron->any_weekday ? day && weekday : day || weekday;
}

/* Seconds from `local` to the next time that may match; 0: `local` matches. */
static int64_t distance(const struct cron *cron, int64_t local)
{
    struct civil at = civil_of(local);
    int64_t second = local - floor_div(local, MINUTE) * MINUTE;

    if (!is_day(cron, &at))
        return DAY - (local - floor_div(local, DAY) * DAY);
    if (!has(cron->hours, at.hour))
        return HOUR - (local - floor_div(local, HOUR) * HOUR);
    if (second != 0 || !has(cron->minutes, at.minute))
        return MINUTE - second;
    return 0;
}

/* --- changes of the offset -------------------------------------------------------------------- */

/* The first second of another offset than that at `from`, not after `to`. */
static int64_t find_change(const struct zone *zone, int64_t from, int64_t to)
{
    int32_t offset = zone_offset(zone, from);

    while (to - from > 1) {
        int64_t middle = from + (to - from) / 2;

        if (zone_offset(zone, middle) == offset)
            from = middle;
        else
            to = middle;
    }
    return to;
}

/* True when a time matches that clocks leave out at `change`. */
static bool is_left_out(const struct cron *cron, const struct zone *zone, int64_t change)
{
    int64_t local = change + zone_offset(zone, change - 1);
    int64_t end = change + zone_offset(zone, change);

    if (cron->follows_the_clock || end - local > SAVING_MAX)
        return false;
    while (local < end) {
        int64_t left = distance(cron, local);

        if (left == 0)
            return true;
        local += left;
    }
    return false;
}

/* True when clocks showed the same time before. */
static bool is_second(const struct zone *zone, int64_t time)
{
    int32_t offset = zone_offset(zone, time);
    int32_t earlier = zone_offset(zone, time - SAVING_MAX) - offset;

    return earlier > 0 && zone_offset(zone, time - earlier) - offset == earlier;
}

int64_t cron_next(const struct cron *cron, const struct zone *zone, int64_t after)
{
    int64_t end = after + (int64_t)YEARS_MAX * 366 * DAY;
    int64_t time = after + 1;

    while (time < end) {
        int32_t offset = zone_offset(zone, time);
        int64_t left = distance(cron, time + offset);

        /* The second before `after` was looked at: a change right after it is new. */
        if (zone_offset(zone, time - 1) != offset && is_left_out(cron, zone, time))
            return time;
        if (left == 0 && (cron->follows_the_clock || !is_second(zone, time)))
            return time;
        left += left == 0 ? MINUTE : 0;
        /* No step goes past a change. */
        if (zone_offset(zone, time + left) != offset)
            time = find_change(zone, time, time + left);
        else
            time += left;
    }
    return INT64_MAX;
}
