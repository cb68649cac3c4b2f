/* SPDX-License-Identifier: MIT */
#include "zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zone_rule.h"

#define FOLDER "/usr/share/zoneinfo/"
#define LOCAL "/etc/localtime"
#define PATH_SIZE 256u
/* The largest file of tzdata has 4 KiB. */
#define FILE_MAX ((size_t)256 * 1024)
#define HEADER_SIZE 44u
#define COUNTS_AT 20u /* six counts of four bytes */
#define TYPE_SIZE 6u  /* offset, daylight saving, name */
#define TIME_SIZE 8u
/* The years for which a rule is written out. The last change of the first one gives the offset at
 * the beginning of 1970. */
#define RULE_FIRST ((int64_t)1969)
#define RULE_LAST ((int64_t)2500)
#define RULE_CHANGES ((size_t)(2 * (RULE_LAST - RULE_FIRST + 1)))
#define RULE_SIZE 128u /* bytes; the longest of tzdata has 40 */

/* A file, or its rest. */
struct bytes {
    const unsigned char *at;
    size_t size;
};

struct header {
    uint32_t ut_count, standard_count, leap_count, time_count, type_count, name_count;
};

static uint64_t number(const unsigned char *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

static bool skip(struct bytes *bytes, size_t size)
{
    if (size > bytes->size)
        return false;
    bytes->at += size;
    bytes->size -= size;
    return true;
}

static bool read_header(struct bytes *bytes, struct header *out)
{
    uint32_t *const counts[] = { &out->ut_count,   &out->standard_count, &out->leap_count,
                                 &out->time_count, &out->type_count,     &out->name_count };
    const unsigned char *at = bytes->at;

    if (!skip(bytes, HEADER_SIZE) || memcmp(at, "TZif", 4) != 0 || at[4] < '2')
        return false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] = (uint32_t)number(at + COUNTS_AT + 4 * i, 4);
        if (*counts[i] > FILE_MAX)
            return false;
    }
    return out->type_count > 0;
}

static size_t body_size(const struct header *header, size_t time_size)
{
    return header->time_count * (time_size + 1) + header->type_count * TYPE_SIZE +
           header->name_count + header->leap_count * (time_size + 4) + header->standard_count +
           header->ut_count;
}

/* Room for `count` times and for those of a rule. */
static int make_room(struct zone *zone, size_t count)
{
    zone->times = calloc(count + RULE_CHANGES, sizeof *zone->times);
    zone->offsets = calloc(count + RULE_CHANGES, sizeof *zone->offsets);
    return zone->times && zone->offsets ? 0 : ENOMEM;
}

static int read_times(struct zone *zone, const unsigned char *at, const struct header *header)
{
    const unsigned char *indices = at + header->time_count * TIME_SIZE;
    const unsigned char *types = indices + header->time_count;

    zone->before = (int32_t)number(types, 4);
    zone->count = header->time_count;
    for (size_t i = 0; i < zone->count; i++) {
        if (indices[i] >= header->type_count)
            return EINVAL;
        zone->times[i] = (int64_t)number(at + i * TIME_SIZE, TIME_SIZE);
        zone->offsets[i] = (int32_t)number(types + indices[i] * TYPE_SIZE, 4);
        if (i > 0 && zone->times[i] <= zone->times[i - 1])
            return EINVAL;
    }
    return 0;
}

static void append_change(struct zone *zone, int64_t time, int32_t offset)
{
    if (zone->count > 0 && time < zone->times[zone->count - 1])
        return;
    /* Summer that lasts for the whole year ends in the moment in which the next one begins. */
    if (zone->count == 0 || time > zone->times[zone->count - 1])
        zone->times[zone->count++] = time;
    zone->offsets[zone->count - 1] = offset;
}

/* Writes the changes of a rule behind the times of the file. */
static void append_rule(struct zone *zone, const struct zone_rule *rule)
{
    int64_t last = zone->count > 0 ? zone->times[zone->count - 1] : INT64_MIN;

    for (int64_t year = RULE_FIRST; rule->has_summer && year <= RULE_LAST; year++) {
        int64_t times[2];
        int32_t offsets[2];

        zone_rule_changes(rule, year, times, offsets);
        for (int i = 0; i < 2; i++)
            if (times[i] > last)
                append_change(zone, times[i], offsets[i]);
    }
}

/* The last line of a file: a newline, a rule or nothing, a newline. */
static int read_footer(struct zone *zone, const struct bytes *footer)
{
    const char *line = (const char *)footer->at + 1;
    const char *end = footer->size > 1 ? memchr(line, '\n', footer->size - 1) : NULL;
    struct zone_rule rule;
    char text[RULE_SIZE];

    if (!end || footer->at[0] != '\n' || (size_t)(end - line) >= sizeof text)
        return EINVAL;
    if (end == line)
        return 0;
    memcpy(text, line, (size_t)(end - line));
    text[end - line] = '\0';
    if (!zone_rule_read(&rule, text))
        return EINVAL;
    append_rule(zone, &rule);
    return 0;
}

static int read_zone(struct zone *zone, struct bytes file)
{
    struct header header;
    const unsigned char *body;
    int error;

    /* First a part with times of 32 bits, for old programs. */
    if (!read_header(&file, &header) || !skip(&file, body_size(&header, 4)) ||
        !read_header(&file, &header))
        return EINVAL;
    body = file.at;
    if (!skip(&file, body_size(&header, TIME_SIZE)))
        return EINVAL;
    error = make_room(zone, header.time_count);
    if (error == 0)
        error = read_times(zone, body, &header);
    return error == 0 ? read_footer(zone, &file) : error;
}

static int read_file(struct zone *zone, const char *path)
{
    FILE *stream = fopen(path, "rbe");
    unsigned char *bytes;
    int error;

    if (!stream)
        return errno;
    bytes = malloc(FILE_MAX);
    if (bytes)
        error = read_zone(zone, (struct bytes){ bytes, fread(bytes, 1, FILE_MAX, stream) });
    else
        error = ENOMEM;
    free(bytes);
    (void)fclose(stream);
    if (error != 0)
        zone_close(zone);
    return error;
}

bool zone_is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '/' && !strstr(name, "..") &&
           strlen(FOLDER) + strlen(name) < PATH_SIZE;
}

/* `name` is that of a file in `FOLDER`. */
static int open_named(struct zone *zone, const char *name)
{
    char path[PATH_SIZE];

    if (strcmp(name, "UTC") == 0)
        return 0;
    if (!zone_is_name(name))
        return EINVAL;
    (void)snprintf(path, sizeof path, FOLDER "%s", name);
    return read_file(zone, path);
}

/* A rule in place of a name. */
static int open_rule(struct zone *zone, const char *text)
{
    struct zone_rule rule;
    int error;

    if (!zone_rule_read(&rule, text))
        return ENOENT;
    error = make_room(zone, 0);
    zone->before = rule.offset;
    if (error == 0)
        append_rule(zone, &rule);
    return error;
}

static int open_zone_of_host(struct zone *zone)
{
    const char *name = getenv("TZ");
    int error;

    if (!name) {
        error = read_file(zone, LOCAL);
        return error == ENOENT ? 0 : error;
    }
    name += name[0] == ':';
    if (name[0] == '\0')
        return 0; /* UTC, as in libc */
    if (name[0] == '/')
        return read_file(zone, name);
    error = open_named(zone, name);
    return error == ENOENT ? open_rule(zone, name) : error;
}

int zone_open(struct zone *zone, const char *name)
{
    *zone = (struct zone){ .count = 0 };
    return name ? open_named(zone, name) : open_zone_of_host(zone);
}

void zone_close(struct zone *zone)
{
    free(zone->times);
    free(zone->offsets);
    *zone = (struct zone){ .count = 0 };
}

int32_t zone_offset(const struct zone *zone, int64_t time)
{
    size_t low = 0, high = zone->count; /* the number of times that are not after `time` */

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (zone->times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? zone->offsets[low - 1] : zone->before;
}
