/* SPDX-License-Identifier: MIT */
#include "host/isolation/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/isolation/call_filter.h"

/* Later than the headers of Debian 12. */
#define TRUNCATE ((uint64_t)1 << 14)
#define IOCTL_DEV ((uint64_t)1 << 15)

#define READS                                                                                      \
    ((uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                        \
                LANDLOCK_ACCESS_FS_READ_DIR))
#define WRITES                                                                                     \
    ((uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |                       \
                LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                    \
                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                     \
                LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                       \
                LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |                       \
                LANDLOCK_ACCESS_FS_REFER | TRUNCATE))
#define OTHERS                                                                                     \
    ((uint64_t)(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK) | IOCTL_DEV)
#define OF_FILES                                                                                   \
    ((uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                        \
                LANDLOCK_ACCESS_FS_WRITE_FILE) |                                                   \
     TRUNCATE | IOCTL_DEV)

/* 0: the kernel has no landlock. */
static long version(void)
{
    long found = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return found > 0 ? found : 0;
}

/* What that version knows. */
static uint64_t known(long abi)
{
    uint64_t all = READS | WRITES | OTHERS;

    if (abi < 2)
        all &= ~(uint64_t)LANDLOCK_ACCESS_FS_REFER;
    if (abi < 3)
        all &= ~TRUNCATE;
    if (abi < 5)
        all &= ~IOCTL_DEV;
    return all;
}

const char *sandbox_lacks(void)
{
    long abi = version();

    if (!call_filter_is_there())
        return "cannot be enforced: this kernel filters no system calls";
    if (abi < 1)
        return "cannot be enforced for files: this kernel has no landlock, so a process "
               "may read and write what the host may";
    if (abi < 3)
        return "cannot be enforced in full: landlock of this kernel is older than Linux 6.2, so "
               "a process may empty files below `read` (O_TRUNC), and do any ioctl on devices";
    return abi < 5 ? "cannot be enforced in full: landlock of this kernel is older than Linux "
                     "6.10, so a process may do any ioctl on devices below `read` and `write`"
                   : NULL;
}

/* --- files ------------------------------------------------------------------------------------ */

static int allow(int ruleset, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = { .allowed_access = access,
                                               .parent_fd = open(path, O_PATH | O_CLOEXEC) };
    struct stat about = { 0 };
    int error = rule.parent_fd >= 0 && fstat(rule.parent_fd, &about) == 0 ? 0 : errno;

    if (error == 0 && !S_ISDIR(about.st_mode))
        rule.allowed_access &= OF_FILES;
    if (error == 0 &&
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        error = errno;
    if (rule.parent_fd >= 0)
        (void)close(rule.parent_fd);
    return error;
}

static int allow_all(int ruleset, const struct weir_list *paths, uint64_t access, char *why,
                     size_t size)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < paths->count; i++) {
        error = allow(ruleset, paths->items[i], access);
        if (error != 0)
            (void)snprintf(why, size, "sandbox: %s: %s", paths->items[i], strerror(error));
    }
    return error;
}

static int bound_files(const struct sandbox *sandbox, long abi, char *why, size_t size)
{
    struct landlock_ruleset_attr rules = { .handled_access_fs = known(abi) };
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    int error = ruleset >= 0 ? 0 : errno;

    if (error == 0)
        error = allow_all(ruleset, &sandbox->read, READS & known(abi), why, size);
    if (error == 0)
        error = allow_all(ruleset, &sandbox->write, WRITES & known(abi), why, size);
    if (error == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        error = errno;
    if (ruleset >= 0)
        (void)close(ruleset);
    return error;
}

/* --- all of it -------------------------------------------------------------------------------- */

int sandbox_enter(const struct sandbox *sandbox, char *why, size_t size)
{
    const char *lacks = sandbox_lacks();
    long abi = version();
    int error = 0;

    (void)snprintf(why, size, "sandbox");
    if (lacks && sandbox->strict) {
        (void)snprintf(why, size, "sandbox: %s", lacks);
        return ENOSYS;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return errno;
    if (abi > 0)
        error = bound_files(sandbox, abi, why, size);
    if (error == 0 && call_filter_is_there())
        error = call_filter_enter(sandbox->network, abi < 3);
    return error;
}
