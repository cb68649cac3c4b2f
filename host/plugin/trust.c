/* SPDX-License-Identifier: MIT */
#include "host/plugin/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/status.h>

#define LINKS_MAX 40             /* the kernel's own limit */
#define NAME_SIZE (NAME_MAX + 2) /* one more than the longest file name, and the NUL */

/* The walk along one path. */
struct walk {
    struct trust *found;
    uid_t root;          /* the owner of / */
    int folder;          /* the present folder; -1 = none */
    size_t links;        /* followed so far */
    char at[PATH_MAX];   /* truncated */
    char rest[PATH_MAX]; /* not walked yet */
};

static enum trust_flaw flaw_of(const struct walk *walk, const struct stat *status)
{
    if (!S_ISLNK(status->st_mode) && (status->st_mode & (S_IWGRP | S_IWOTH)) &&
        !(S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX)))
        return TRUST_WRITABLE;
    if (status->st_uid != 0 && status->st_uid != geteuid() && status->st_uid != walk->root)
        return TRUST_FOREIGN;
    return TRUST_SAFE;
}

/* Appends `/` and a name to a path of PATH_MAX. */
static void append(char *path, const char *name)
{
    size_t used = strlen(path);

    (void)snprintf(path + used, PATH_MAX - used, "/%s", name);
}

static void judge(struct walk *walk, const struct stat *status, const char *name)
{
    enum trust_flaw flaw = flaw_of(walk, status);

    if (flaw <= walk->found->flaw)
        return;
    walk->found->flaw = flaw;
    walk->found->owner = status->st_uid;
    memcpy(walk->found->where, walk->at, sizeof walk->at);
    append(walk->found->where, name);
}

static void move_to(struct walk *walk, int folder)
{
    if (walk->folder >= 0)
        close(walk->folder);
    walk->folder = folder;
}

/* Opens the root folder. */
static int begin(struct walk *walk)
{
    struct stat status;

    move_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (walk->folder < 0 || fstat(walk->folder, &status) != 0)
        return -errno;
    walk->root = status.st_uid;
    walk->at[0] = '\0';
    judge(walk, &status, "");
    return 0;
}

/* Takes the next name from the rest; false: the rest is empty. A name that is too long stays too
 * long when it is truncated. */
static bool take_name(struct walk *walk, char *name)
{
    const char *start = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(start, "/");
    size_t kept = length < NAME_SIZE ? length : NAME_SIZE - 1;

    if (length == 0)
        return false;
    memcpy(name, start, kept);
    name[kept] = '\0';
    memmove(walk->rest, start + length, strlen(start + length) + 1);
    return true;
}

/* Puts the target of a link before the rest of the path. */
static int follow(struct walk *walk, int link)
{
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof target - 1);

    if (length < 0)
        return -errno;
    target[length] = '\0';
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    memcpy(rest, walk->rest, sizeof rest);
    if ((size_t)snprintf(walk->rest, sizeof walk->rest, "%s/%s", target, rest) >= sizeof rest)
        return -ENAMETOOLONG;
    return target[0] == '/' ? begin(walk) : 0;
}

static int step(struct walk *walk, const char *name)
{
    int next = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status = { .st_mode = 0 };
    int result = 0;

    if (next < 0 || fstat(next, &status) != 0)
        result = -errno;
    if (result == 0)
        judge(walk, &status, name);
    if (result == 0 && !S_ISLNK(status.st_mode)) {
        append(walk->at, name);
        move_to(walk, next);
        return 0;
    }
    if (result == 0)
        result = follow(walk, next);
    if (next >= 0)
        close(next);
    return result;
}

/* Walks the whole path from the root folder. */
static int set_out(struct walk *walk, const char *path)
{
    char here[PATH_MAX] = "";
    int length;

    if (path[0] != '/' && !getcwd(here, sizeof here))
        return -errno;
    length = snprintf(walk->rest, sizeof walk->rest, "%s/%s", here, path);
    return length < 0 || (size_t)length >= sizeof walk->rest ? -ENAMETOOLONG : 0;
}

int trust_look(const char *path, struct trust *out)
{
    struct walk walk = { .found = out, .folder = -1 };
    char name[NAME_SIZE];
    int result = set_out(&walk, path);

    *out = (struct trust){ .flaw = TRUST_SAFE };
    if (result == 0)
        result = begin(&walk);
    while (result == 0 && take_name(&walk, name))
        result = step(&walk, name);
    move_to(&walk, -1);
    return result;
}

bool trust_forbids(const struct trust *trust)
{
    return trust->flaw == TRUST_WRITABLE && geteuid() == 0;
}

void trust_describe(const struct trust *trust, char *text, size_t size)
{
    text[0] = '\0';
    if (trust->flaw == TRUST_WRITABLE)
        (void)snprintf(text, size, "others than its owner may write to %.256s (chmod go-w)",
                       trust->where);
    else if (trust->flaw == TRUST_FOREIGN)
        (void)snprintf(text, size, "%.256s belongs to user %u, who is neither root nor the host's",
                       trust->where, (unsigned)trust->owner);
}

int trust_check(const char *plugin, struct problem *problem)
{
    struct trust trust;
    char why[PROBLEM_SIZE / 2];

    if (trust_look(plugin, &trust) != 0 || !trust_forbids(&trust))
        return WEIR_OK;
    trust_describe(&trust, why, sizeof why);
    return problem_set(problem, WEIR_ENOTALLOWED, "%s: is not loaded by root: %s", plugin, why);
}
