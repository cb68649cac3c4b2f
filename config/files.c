/* SPDX-License-Identifier: MIT */
#include "config/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weir/fault.h>

#include "config/pattern.h"

#define STAMP_BEGIN UINT64_C(14695981039346656037) /* FNV-1a, 64 bits */
#define STAMP_PRIME UINT64_C(1099511628211)
#define STAMP_ABSENT 1u /* of a file that does not exist */

void config_files_init(struct config_files *files)
{
    *files = (struct config_files){ NULL, 0 };
}

void config_files_finish(struct config_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].path);
    free(files->files);
    config_files_init(files);
}

/* --- stamps ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t stamp, uint64_t number)
{
    for (int i = 0; i < 8; i++, number >>= 8)
        stamp = (stamp ^ (number & 0xff)) * STAMP_PRIME;
    return stamp;
}

static uint64_t mix_text(uint64_t stamp, const char *text)
{
    for (; *text; text++)
        stamp = (stamp ^ (unsigned char)*text) * STAMP_PRIME;
    return mix(stamp, 0);
}

static uint64_t stamp_of_file(const char *path)
{
    struct stat found;
    uint64_t stamp = STAMP_BEGIN;

    if (stat(path, &found) != 0)
        return STAMP_ABSENT;
    stamp = mix(stamp, (uint64_t)found.st_dev);
    stamp = mix(stamp, (uint64_t)found.st_ino);
    stamp = mix(stamp, (uint64_t)found.st_mode);
    stamp = mix(stamp, ((uint64_t)found.st_uid << 32) + found.st_gid);
    stamp = mix(stamp, (uint64_t)found.st_size);
    stamp = mix(stamp, (uint64_t)found.st_mtim.tv_sec);
    stamp = mix(stamp, (uint64_t)found.st_mtim.tv_nsec);
    stamp = mix(stamp, (uint64_t)found.st_ctim.tv_sec);
    return mix(stamp, (uint64_t)found.st_ctim.tv_nsec);
}

/* While a folder cannot be read for want of descriptors or memory, nothing has changed. */
static uint64_t stamp_of_pattern(const char *pattern, uint64_t before)
{
    uint32_t looks = PATTERN_LOOKS_MAX;
    struct pattern_matches matches;
    uint64_t stamp = STAMP_BEGIN;

    if (pattern_find(pattern, &looks, &matches) != 0)
        return STAMP_ABSENT;
    for (size_t i = 0; i < matches.count; i++)
        stamp = mix_text(stamp, matches.paths[i]);
    if (matches.unread)
        stamp = weir_is_short(matches.error) ? before : mix_text(stamp, matches.unread);
    pattern_finish(&matches);
    return stamp;
}

/* `before`: 0, or the stamp of an earlier look. */
static uint64_t stamp_of(const char *path, bool pattern, uint64_t before)
{
    return pattern ? stamp_of_pattern(path, before) : stamp_of_file(path);
}

uint64_t config_files_stamp(const struct config_files *files)
{
    uint64_t stamp = STAMP_BEGIN;

    for (size_t i = 0; i < files->count; i++)
        stamp = mix(stamp, files->files[i].stamp);
    return stamp;
}

uint64_t config_files_stamp_now(const struct config_files *files)
{
    uint64_t stamp = STAMP_BEGIN;

    for (size_t i = 0; i < files->count; i++)
        stamp = mix(stamp,
                    stamp_of(files->files[i].path, files->files[i].pattern, files->files[i].stamp));
    return stamp;
}

/* --- adding ----------------------------------------------------------------------------------- */

/* True for file systems whose time stamps are the time of the reading, not of a change. */
static bool is_made_up(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static bool has(const struct config_files *files, const char *path, uint64_t name, bool pattern)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct config_file *file = &files->files[i];

        if (file->name == name && file->pattern == pattern && strcmp(file->path, path) == 0)
            return true;
    }
    return false;
}

void config_files_add(struct config_files *files, const char *path, bool pattern)
{
    struct config_file *grown, *file;
    uint64_t name = mix_text(STAMP_BEGIN, path);

    if (!files || files->count == CONFIG_FILES_MAX || is_made_up(path) ||
        has(files, path, name, pattern))
        return;
    grown = realloc(files->files, (files->count + 1) * sizeof *grown);
    if (!grown)
        return;
    files->files = grown;
    file = &grown[files->count];
    *file = (struct config_file){ strdup(path), name, pattern, stamp_of(path, pattern, 0) };
    if (file->path)
        files->count++;
}
