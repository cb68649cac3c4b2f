/* SPDX-License-Identifier: MIT */
#include "unit/reload/fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

WRAP(FAULT_MEMORY, void *, malloc, (size_t size), (size), ENOMEM, NULL)
WRAP(FAULT_MEMORY, void *, calloc, (size_t count, size_t size), (count, size), ENOMEM, NULL)
WRAP(FAULT_MEMORY, void *, realloc, (void *memory, size_t size), (memory, size), ENOMEM, NULL)
WRAP(FAULT_MEMORY, void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size),
     ENOMEM, NULL)
WRAP(FAULT_MEMORY, char *, strdup, (const char *text), (text), ENOMEM, NULL)
WRAP(FAULT_MEMORY, char *, strndup, (const char *text, size_t size), (text, size), ENOMEM, NULL)
WRAP(FAULT_MEMORY, FILE *, open_memstream, (char **text, size_t *size), (text, size), ENOMEM, NULL)

WRAP(FAULT_FILE, ssize_t, read, (int descriptor, void *bytes, size_t size),
     (descriptor, bytes, size), EIO, -1)
WRAP(FAULT_FILE, FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP(FAULT_FILE, DIR *, opendir, (const char *path), (path), EMFILE, NULL)
WRAP(FAULT_FILE, DIR *, fdopendir, (int descriptor), (descriptor), ENOMEM, NULL)
WRAP(FAULT_FILE, int, fstat, (int descriptor, struct stat *status), (descriptor, status), EIO, -1)
WRAP(FAULT_FILE, int, fchmod, (int descriptor, mode_t mode), (descriptor, mode), EIO, -1)
WRAP(FAULT_FILE, int, rename, (const char *from, const char *to), (from, to), EIO, -1)
WRAP(FAULT_FILE, char *, realpath, (const char *path, char *resolved), (path, resolved), ENOMEM,
     NULL)
WRAP(FAULT_FILE, char *, mkdtemp, (char *path), (path), ENOSPC, NULL)

WRAP(FAULT_FILE, int, socket, (int domain, int type, int protocol), (domain, type, protocol),
     EMFILE, -1)
WRAP(FAULT_FILE, int, bind, (int descriptor, const struct sockaddr *address, socklen_t size),
     (descriptor, address, size), EACCES, -1)
WRAP(FAULT_FILE, int, listen, (int descriptor, int backlog), (descriptor, backlog), EADDRINUSE, -1)
WRAP(FAULT_FILE, int, flock, (int descriptor, int operation), (descriptor, operation), ENOLCK, -1)
WRAP(FAULT_FILE, int, chmod, (const char *path, mode_t mode), (path, mode), EPERM, -1)
WRAP(FAULT_FILE, int, memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE, -1)

WRAP(FAULT_PLUGIN, void *, dlopen, (const char *path, int flags), (path, flags), ENOMEM, NULL)
WRAP(FAULT_PLUGIN, void *, mmap,
     (void *at, size_t size, int protection, int flags, int descriptor, off_t offset),
     (at, size, protection, flags, descriptor, offset), ENOMEM, MAP_FAILED)

WRAP(FAULT_PROCESS, int, pipe2, (int *ends, int flags), (ends, flags), EMFILE, -1)
WRAP(FAULT_PROCESS, int, posix_spawn,
     (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),
     (process, path, actions, attributes, arguments, environment), EAGAIN, EAGAIN)

WRAP(FAULT_THREAD, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
     (thread, attributes, start, argument), EAGAIN, EAGAIN)

/* Their last parameter is there when O_CREAT says so. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (strikes(FAULT_FILE, "open")) {
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

    if (strikes(FAULT_FILE, "openat")) {
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
