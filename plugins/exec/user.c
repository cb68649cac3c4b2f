/* SPDX-License-Identifier: MIT */
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the texts of an entry; the usual ones have a hundred bytes. */
#define ENTRY_SIZE ((size_t)64 * 1024)
#define GROUPS_MAX 65536 /* NGROUPS_MAX of Linux */
#define DIGITS_MAX 10u   /* of a number of 32 bits */

static bool is_number(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits > 0 && digits < DIGITS_MAX && name[digits] == '\0';
}

static int find_entry(const char *name, struct passwd *entry, char *text, size_t size)
{
    struct passwd *found = NULL;
    int error = is_number(name)
                    ? getpwuid_r((uid_t)strtoul(name, NULL, 10), entry, text, size, &found)
                    : getpwnam_r(name, entry, text, size, &found);

    return error == 0 && !found ? ENOENT : error;
}

/* Returns owned; NULL when memory is out. */
static char *join(const gid_t *groups, int count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    for (int i = 0; i < count; i++)
        (void)fprintf(stream, "%s%u", i ? "," : "", (unsigned)groups[i]);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static char *groups_of(const struct passwd *entry)
{
    int count = GROUPS_MAX;
    gid_t *groups = malloc((size_t)count * sizeof *groups);
    char *text = NULL;

    if (groups && getgrouplist(entry->pw_name, entry->pw_gid, groups, &count) >= 0)
        text = join(groups, count);
    free(groups);
    return text;
}

static int take(struct user *user, const struct passwd *entry)
{
    (void)snprintf(user->number, sizeof user->number, "%u", (unsigned)entry->pw_uid);
    (void)snprintf(user->group, sizeof user->group, "%u", (unsigned)entry->pw_gid);
    user->groups = groups_of(entry);
    user->name = strdup(entry->pw_name);
    user->home = strdup(entry->pw_dir);
    if (user->groups && user->name && user->home)
        return 0;
    user_finish(user);
    return ENOMEM;
}

int user_find(struct user *user, const char *name)
{
    char *text = malloc(ENTRY_SIZE);
    struct passwd entry;
    int error;

    *user = (struct user){ .groups = NULL };
    if (!text)
        return ENOMEM;
    error = find_entry(name, &entry, text, ENTRY_SIZE);
    if (error == 0)
        error = take(user, &entry);
    free(text);
    return error;
}

void user_finish(struct user *user)
{
    free(user->groups);
    free(user->name);
    free(user->home);
    *user = (struct user){ .groups = NULL };
}
