/* SPDX-License-Identifier: MIT */
#include "unit/reload/fault.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One for the program: a failing call has no context. */
static struct {
    _Atomic uint32_t kinds;
    _Atomic uint64_t left; /* 0 = none is to fail */
    _Atomic(const char *) struck;
    _Atomic uint64_t counts[FAULT_KINDS];
} switches;

static _Thread_local bool followed;

void fault_follow(void)
{
    followed = true;
}

void fault_arm(uint32_t kinds, uint64_t nth)
{
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        atomic_store(&switches.counts[kind], 0);
    atomic_store(&switches.struck, NULL);
    atomic_store(&switches.kinds, kinds);
    atomic_store(&switches.left, nth);
}

const char *fault_struck(void)
{
    return atomic_load(&switches.struck);
}

uint64_t fault_count(enum fault_kind kind)
{
    return atomic_load(&switches.counts[kind]);
}

/* Whether this call is the one to fail. One thread at a time is followed. */
static bool strikes(enum fault_kind kind, const char *name)
{
    uint64_t left;

    if (!followed)
        return false;
    atomic_fetch_add(&switches.counts[kind], 1);
    if (!(atomic_load(&switches.kinds) & FAULT_ONLY(kind)))
        return false;
    left = atomic_load(&switches.left);
    if (left == 0)
        return false;
    atomic_store(&switches.left, left - 1);
    if (left > 1)
        return false;
    atomic_store(&switches.struck, name);
    return true;
}

/*
 * WRAP(kind, result, name, parameters, arguments, error, failed): the replacement that the linker
 * uses for `name`.
 */
#define WRAP(kind, result, name, parameters, arguments, error, failed)                             \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        if (!strikes(kind, #name))                                                                 \
            return __real_##name arguments;                                                        \
        errno = error;                                                                             \
        return failed;                                                                             \
    }

FAULT_ALLOCATIONS(WRAP)
FAULT_CALLS(WRAP)
WRAP(FAULT_READ, ssize_t, read, (int descriptor, void *bytes, size_t size),
     (descriptor, bytes, size), EIO, -1)

/* Their last parameter is there when O_CREAT says so. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (strikes(FAULT_OPEN, "open")) {
        errno = EMFILE;
        return -1;
    }
    va_start(arguments, flags);
    if (flags & O_CREAT)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (strikes(FAULT_OPEN, "openat")) {
        errno = EMFILE;
        return -1;
    }
    va_start(arguments, flags);
    if (flags & O_CREAT)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return __real_openat(folder, path, flags, mode);
}

/* The command decides the type of the last parameter; all types here fit. */
int __real_fcntl(int descriptor, int command, ...);
int __wrap_fcntl(int descriptor, int command, ...);
int __wrap_fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    void *last;

    if (strikes(FAULT_FILE, "fcntl")) {
        errno = EMFILE;
        return -1;
    }
    va_start(arguments, command);
    last = va_arg(arguments, void *);
    va_end(arguments);
    return __real_fcntl(descriptor, command, last);
}
