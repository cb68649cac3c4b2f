/* SPDX-License-Identifier: MIT */
/*
 * zone_rule.h - the rule of a time zone for the years that no table covers, in the form of POSIX's
 * TZ and of the last line of a file of tzdata: CET-1CEST,M3.5.0,M10.5.0/3.
 */
#ifndef ZONE_RULE_H
#define ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* A moment of each year, in local time before the change. */
struct zone_moment {
    enum { ZONE_DAY_OF_YEAR, ZONE_DAY_WITHOUT_LEAP, ZONE_WEEKDAY_OF_MONTH } form;
    int32_t month;   /* 1 to 12 */
    int32_t week;    /* 1 to 5; 5 = the last one */
    int32_t day;     /* day of the week, 0 = Sunday; or of the year */
    int32_t seconds; /* after midnight; may be negative, or longer than a day */
};

struct zone_rule {
    int32_t offset;                /* seconds east of UTC */
    bool has_summer;               /* the fields below are set */
    int32_t summer;                /* offset in summer */
    struct zone_moment begin, end; /* of summer */
};

/* Reads a rule. False: `text` is none. Borrows. */
bool zone_rule_read(struct zone_rule *rule, const char *text);

/* The two changes of a year with a summer, in seconds of UTC, ascending, and the offset that begins
 * at each. */
void zone_rule_changes(const struct zone_rule *rule, int64_t year, int64_t times[2],
                       int32_t offsets[2]);

#endif
