/* SPDX-License-Identifier: MIT */
#include "base/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MIN 2u /* one blocked thread must not stop all work */
#define THREADS_MAX 1024u
#define PATH_SIZE 4096
#define LINE_SIZE 8192
#define FILE_SIZE (2 * PATH_SIZE + 64) /* a mount point, a path below it, a name */
#define PERIOD_US_DEFAULT 100000       /* the kernel's, when cpu.max has one field */
#define CPUS_MAX 65536                 /* the largest mask that is tried */

/* The position of this process' CPU controller. */
struct group {
    bool is_v1;
    char mount_point[PATH_SIZE];
    char mount_root[PATH_SIZE];
    char path[PATH_SIZE];
};

static bool has_token(const char *list, const char *token)
{
    size_t length = strlen(token);

    while (*list) {
        size_t part = strcspn(list, ",");

        if (part == length && strncmp(list, token, length) == 0)
            return true;
        list += part + (list[part] == ',');
    }
    return false;
}

static FILE *open_below(const char *root, const char *path)
{
    char full[FILE_SIZE + PATH_SIZE];
    int length = snprintf(full, sizeof full, "%s%s", root, path);

    return length > 0 && (size_t)length < sizeof full ? fopen(full, "re") : NULL;
}

/* Decodes mountinfo's escapes, such as \040 for a space. */
static void unescape(char *text)
{
    char *to = text;

    for (char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Finds the group's path in /proc/self/cgroup: a v1 line that has `cpu` wins over `0::`. */
static bool find_path(const char *root, struct group *group)
{
    FILE *file = open_below(root, "/proc/self/cgroup");
    char line[LINE_SIZE];
    bool found = false;

    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        bool is_v1;

        line[strcspn(line, "\n")] = '\0';
        if (!path)
            continue;
        *path++ = '\0';
        is_v1 = has_token(controllers + 1, "cpu");
        if (!is_v1 && (controllers[1] != '\0' || found))
            continue;
        group->is_v1 = is_v1;
        (void)snprintf(group->path, sizeof group->path, "%.*s", PATH_SIZE - 1, path);
        found = true;
        if (is_v1)
            break;
    }
    if (file)
        fclose(file);
    return found;
}

/* `id parent dev root mountpoint options... - type source superoptions` */
static bool parse_mount(char *line, struct group *group)
{
    char *separator = strstr(line, " - ");
    char type[64], super[LINE_SIZE];

    if (!separator || sscanf(separator + 3, "%63s %*s %8191s", type, super) != 2)
        return false;
    if (group->is_v1 ? strcmp(type, "cgroup") != 0 || !has_token(super, "cpu")
                     : strcmp(type, "cgroup2") != 0)
        return false;
    *separator = '\0';
    if (sscanf(line, "%*s %*s %*s %4095s %4095s", group->mount_root, group->mount_point) != 2)
        return false;
    unescape(group->mount_root);
    unescape(group->mount_point);
    return true;
}

static bool find_mount(const char *root, struct group *group)
{
    FILE *file = open_below(root, "/proc/self/mountinfo");
    char line[LINE_SIZE];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = parse_mount(line, group);
    }
    if (file)
        fclose(file);
    return found;
}

static bool read_number(const char *root, const char *directory, const char *name, double *out)
{
    char path[FILE_SIZE];
    FILE *file;
    bool read;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = open_below(root, path);
    read = file && fscanf(file, "%lf", out) == 1;
    if (file)
        fclose(file);
    return read;
}

static double quota_v1(const char *root, const char *directory)
{
    double quota, period;

    if (!read_number(root, directory, "cpu.cfs_quota_us", &quota) || quota <= 0 ||
        !read_number(root, directory, "cpu.cfs_period_us", &period) || period <= 0)
        return CPUS_NO_QUOTA;
    return quota / period;
}

/* `max 100000`, `150000 100000` or `150000`; a group without the controller has no such file. */
static double quota_v2(const char *root, const char *directory)
{
    char path[FILE_SIZE], text[64] = "";
    double quota = 0, period = PERIOD_US_DEFAULT;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/cpu.max", directory);
    file = open_below(root, path);
    if (!file)
        return CPUS_NO_QUOTA;
    if (!fgets(text, sizeof text, file) || sscanf(text, "%lf %lf", &quota, &period) < 1 ||
        quota <= 0 || period <= 0)
        quota = 0;
    fclose(file);
    return quota > 0 ? quota / period : CPUS_NO_QUOTA;
}

/* The directory of the group. A mount may show only a part of the tree. */
static void directory_of(const struct group *group, char *out, size_t size)
{
    const char *path = group->path;
    size_t length = strlen(group->mount_root);

    if (length > 1 && strncmp(path, group->mount_root, length) == 0 &&
        (path[length] == '/' || path[length] == '\0'))
        path += length;
    (void)snprintf(out, size, "%s%s", group->mount_point, strcmp(path, "/") == 0 ? "" : path);
}

double cpus_quota(const char *root)
{
    struct group *group = calloc(1, sizeof *group);
    char directory[2 * PATH_SIZE];
    double tightest = CPUS_NO_QUOTA;

    if (!group || !find_path(root, group) || !find_mount(root, group)) {
        free(group);
        return CPUS_NO_QUOTA;
    }
    directory_of(group, directory, sizeof directory);
    while (strlen(directory) >= strlen(group->mount_point)) {
        double quota = group->is_v1 ? quota_v1(root, directory) : quota_v2(root, directory);
        char *slash = strrchr(directory, '/');

        if (quota > 0 && (tightest <= 0 || quota < tightest))
            tightest = quota;
        if (!slash || slash == directory)
            break;
        *slash = '\0';
    }
    free(group);
    return tightest;
}

uint32_t cpus_allowed(void)
{
    for (int count = 1024; count <= CPUS_MAX; count *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)count);
        size_t size = CPU_ALLOC_SIZE((size_t)count);
        uint32_t allowed = 0;

        if (set && sched_getaffinity(getpid(), size, set) == 0)
            allowed = (uint32_t)CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (allowed > 0)
            return allowed;
        if (errno != EINVAL)
            break;
    }
    return 1;
}

uint32_t cpus_within(uint32_t allowed, const char *root)
{
    double quota = cpus_quota(root);
    uint32_t whole;

    if (quota <= 0 || quota >= (double)allowed)
        return allowed;
    whole = (uint32_t)quota;
    return (double)whole < quota || whole == 0 ? whole + 1 : whole;
}

uint32_t cpus_effective(const char *root)
{
    return cpus_within(cpus_allowed(), root);
}

uint32_t cpus_threads(uint32_t cpus)
{
    if (cpus < THREADS_MIN)
        return THREADS_MIN;
    return cpus < THREADS_MAX ? cpus : THREADS_MAX;
}
