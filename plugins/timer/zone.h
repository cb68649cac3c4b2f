/* SPDX-License-Identifier: MIT */
/*
 * zone.h - the offset of a time zone from UTC at any time, from the files of tzdata (RFC 8536).
 *
 * The functions of libc know one zone for the whole process, which plugins share. Life: zone_open
 * .. zone_close. Read-only in between: any thread.
 */
#ifndef ZONE_H
#define ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone {
    int64_t *times;   /* owned: seconds of UTC at which an offset begins, ascending */
    int32_t *offsets; /* owned: seconds east of UTC from then on */
    size_t count;
    int32_t before; /* offset before the first */
};

/* Whether tzdata may have a zone of this name, by its form. Reads no file. Borrows. */
bool zone_is_name(const char *name);
/*
 * `name` is a name of tzdata such as Europe/Berlin; NULL: the zone of the host (TZ; without it
 * /etc/localtime; else UTC). TZ is a name of tzdata or an absolute path, after a colon or without
 * one, or a POSIX rule such as CET-1CEST,M3.5.0,M10.5.0/3; when it is empty the zone is UTC. The
 * rule at the end of a file holds for the years after its times, up to 2500. Returns 0 or an errno:
 * ENOENT, EINVAL (no such name, or no such file), ENOMEM. Borrows.
 */
int zone_open(struct zone *zone, const char *name);
/* Legal after a failed zone_open, and twice. */
void zone_close(struct zone *zone);

/* Seconds east of UTC at `time`, in seconds of UTC. */
int32_t zone_offset(const struct zone *zone, int64_t time);

#endif
