#include "zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/usr/share/zoneinfo/"
#define LOCAL "/etc/localtime"
#define PATH_SIZE 256u
/* The largest file of tzdata has 4 KiB. */
#define FILE_MAX ((size_t)256 * 1024)
#define HEADER_SIZE 44u
#define COUNTS_AT 20u /* six counts of four bytes */
#define TYPE_SIZE 6u  /* offset, daylight saving, name */
#define TIME_SIZE 8u

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

static int read_times(struct zone *zone, const unsigned char *at, const struct header *header)
{
    const unsigned char *indices = at + header->time_count * TIME_SIZE;
    const unsigned char *types = indices + header->time_count;

    zone->times = calloc(header->time_count + 1, sizeof *zone->times);
    zone->offsets = calloc(header->time_count + 1, sizeof *zone->offsets);
    if (!zone->times || !zone->offsets)
        return ENOMEM;
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

/* A rule with a comma changes the offset each year, after the last of the times. */
static bool has_rule(const struct bytes *footer)
{
    return memchr(footer->at, ',', footer->size) != NULL;
}

static int read_zone(struct zone *zone, struct bytes file, int64_t until)
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
    error = read_times(zone, body, &header);
    if (error == 0 && has_rule(&file) && (zone->count == 0 || zone->times[zone->count - 1] < until))
        error = ERANGE;
    return error;
}

static int read_file(struct zone *zone, const char *path, int64_t until)
{
    FILE *stream = fopen(path, "rbe");
    unsigned char *bytes;
    int error;

    if (!stream)
        return errno;
    bytes = malloc(FILE_MAX);
    if (bytes)
        error = read_zone(zone, (struct bytes){ bytes, fread(bytes, 1, FILE_MAX, stream) }, until);
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
static int open_named(struct zone *zone, const char *name, int64_t until)
{
    char path[PATH_SIZE];

    if (strcmp(name, "UTC") == 0)
        return 0;
    if (!zone_is_name(name))
        return EINVAL;
    (void)snprintf(path, sizeof path, FOLDER "%s", name);
    return read_file(zone, path, until);
}

static int open_zone_of_host(struct zone *zone, int64_t until)
{
    const char *name = getenv("TZ");
    int error;

    if (!name) {
        error = read_file(zone, LOCAL, until);
        return error == ENOENT ? 0 : error;
    }
    name += name[0] == ':';
    if (name[0] == '\0')
        return 0; /* UTC, as in libc */
    return name[0] == '/' ? read_file(zone, name, until) : open_named(zone, name, until);
}

int zone_open(struct zone *zone, const char *name, int64_t until)
{
    *zone = (struct zone){ .count = 0 };
    return name ? open_named(zone, name, until) : open_zone_of_host(zone, until);
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
