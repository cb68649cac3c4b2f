/* SPDX-License-Identifier: MIT */
#include "own_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define UNLOCK_TRIES 1000u

typedef int control_call(int descriptor, int command, ...);

/* What SQLite called before: its table of system calls is the process's. Const after install. */
static control_call **original(void)
{
    static control_call *call = fcntl;

    return &call;
}

/* Const after install. */
static bool *is_installed(void)
{
    static bool is;

    return &is;
}

static bool *has_own_locks(void)
{
    static _Thread_local bool has;

    return &has;
}

static int own_command(int command)
{
    switch (command) {
    case F_SETLK:
        return F_OFD_SETLK;
    case F_SETLKW:
        return F_OFD_SETLKW;
    case F_GETLK:
        return F_OFD_GETLK;
    default:
        return command;
    }
}

/* Linux has no memory for the order. SQLite counts a lock that it could not give back as one that
 * another connection has, and then waits for itself: so the order is given again. */
static bool is_refused_unlock(int status, const struct flock *lock)
{
    return status < 0 && errno == ENOLCK && lock->l_type == F_UNLCK;
}

static int order(int descriptor, int command, struct flock *lock)
{
    uint32_t tries = 0;
    int status;

    lock->l_pid = 0;
    while (is_refused_unlock(status = fcntl(descriptor, command, lock), lock) &&
           ++tries < UNLOCK_TRIES)
        (void)sched_yield();
    return status;
}

/* An argument is a pointer or an int; both are passed on as a pointer is. */
static int control(int descriptor, int command, ...)
{
    int own = own_command(command);
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (own == command || !*has_own_locks())
        return (*original())(descriptor, command, argument);
    return order(descriptor, own, argument);
}

static void install(void)
{
    sqlite3_vfs *vfs;
    control_call *call;

    if (sqlite3_initialize() != SQLITE_OK)
        return;
    vfs = sqlite3_vfs_find("unix");
    if (!vfs || vfs->iVersion < 3)
        return;
    call = (control_call *)vfs->xGetSystemCall(vfs, "fcntl");
    if (!call)
        return;
    *original() = call;
    *is_installed() = vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)control) == SQLITE_OK;
}

int own_locks_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, install);
    *has_own_locks() = *is_installed();
    return *has_own_locks() ? 0 : -1;
}
