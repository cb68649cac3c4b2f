/* SPDX-License-Identifier: MIT */
/*
 * fault_calls.h - calls of the C library that want something of the system, and how each fails.
 *
 * A program expands the lists: FAULT_CALLS(CALL) is a row of CALL(kind, result, name, parameters,
 * arguments, error, failed). fault.c has the linker send these calls to it, and
 * system/faults/nth_call.c is loaded before the C library. CMakeLists.txt beside fault.c names the
 * calls, too. What has another form (open, fcntl, ...) each of them defines itself.
 */
#ifndef TESTS_UNIT_SUPPORT_FAULT_CALLS_H
#define TESTS_UNIT_SUPPORT_FAULT_CALLS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum fault_kind {
    FAULT_MEMORY,
    FAULT_MAP,
    FAULT_THREAD,
    FAULT_FUTEX,
    FAULT_EVENTFD,
    FAULT_EPOLL,
    FAULT_OPEN,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_RENAME,
    FAULT_PLUGIN,
    FAULT_PROCESS, /* and its pipes */
    FAULT_SOCKET,
    FAULT_ACCEPT,
    FAULT_FILE, /* what is asked of a file that is open, or of its name */
    FAULT_KINDS,
};

/* clang-format off */
#define FAULT_ALLOCATIONS(CALL)                                                                    \
    CALL(FAULT_MEMORY, void *, malloc, (size_t size), (size), ENOMEM, NULL)                        \
    CALL(FAULT_MEMORY, void *, calloc, (size_t count, size_t size), (count, size), ENOMEM, NULL)   \
    CALL(FAULT_MEMORY, void *, realloc, (void *memory, size_t size), (memory, size), ENOMEM, NULL)

#define FAULT_CALLS_OF_MEMORY(CALL)                                                                \
    CALL(FAULT_MEMORY, void *, aligned_alloc, (size_t alignment, size_t size),                     \
         (alignment, size), ENOMEM, NULL)                                                          \
    CALL(FAULT_MEMORY, int, posix_memalign, (void **out, size_t alignment, size_t size),           \
         (out, alignment, size), ENOMEM, ENOMEM)                                                   \
    CALL(FAULT_MEMORY, char *, strdup, (const char *text), (text), ENOMEM, NULL)                   \
    CALL(FAULT_MEMORY, char *, strndup, (const char *text, size_t size), (text, size),             \
         ENOMEM, NULL)                                                                             \
    CALL(FAULT_MEMORY, FILE *, open_memstream, (char **text, size_t *size), (text, size),          \
         ENOMEM, NULL)                                                                             \
    CALL(FAULT_MAP, void *, mmap,                                                                  \
         (void *at, size_t size, int protection, int flags, int descriptor, off_t offset),         \
         (at, size, protection, flags, descriptor, offset), ENOMEM, MAP_FAILED)

#define FAULT_CALLS_OF_FILES(CALL)                                                                 \
    CALL(FAULT_OPEN, FILE *, fopen, (const char *path, const char *mode), (path, mode),            \
         EMFILE, NULL)                                                                             \
    CALL(FAULT_OPEN, DIR *, opendir, (const char *path), (path), EMFILE, NULL)                     \
    CALL(FAULT_OPEN, DIR *, fdopendir, (int descriptor), (descriptor), ENOMEM, NULL)               \
    CALL(FAULT_OPEN, char *, mkdtemp, (char *path), (path), ENOSPC, NULL)                          \
    CALL(FAULT_OPEN, int, memfd_create, (const char *name, unsigned flags), (name, flags),         \
         EMFILE, -1)                                                                               \
    CALL(FAULT_SYNC, int, fsync, (int descriptor), (descriptor), EIO, -1)                          \
    CALL(FAULT_SYNC, int, fdatasync, (int descriptor), (descriptor), EIO, -1)                      \
    CALL(FAULT_RENAME, int, rename, (const char *from, const char *to), (from, to), EIO, -1)       \
    CALL(FAULT_RENAME, int, renameat,                                                              \
         (int from_folder, const char *from, int to_folder, const char *to),                       \
         (from_folder, from, to_folder, to), EIO, -1)                                              \
    CALL(FAULT_FILE, int, fstat, (int descriptor, struct stat *status), (descriptor, status),      \
         EIO, -1)                                                                                  \
    CALL(FAULT_FILE, int, fchmod, (int descriptor, mode_t mode), (descriptor, mode), EIO, -1)      \
    CALL(FAULT_FILE, char *, realpath, (const char *path, char *resolved), (path, resolved),       \
         ENOMEM, NULL)                                                                             \
    CALL(FAULT_FILE, int, flock, (int descriptor, int operation), (descriptor, operation),         \
         ENOLCK, -1)                                                                               \
    CALL(FAULT_FILE, int, chmod, (const char *path, mode_t mode), (path, mode), EPERM, -1)

#define FAULT_CALLS_OF_OTHERS(CALL)                                                                \
    CALL(FAULT_PLUGIN, void *, dlopen, (const char *path, int flags), (path, flags), ENOMEM, NULL) \
    CALL(FAULT_PROCESS, int, pipe2, (int ends[2], int flags), (ends, flags), EMFILE, -1)           \
    CALL(FAULT_PROCESS, int, posix_spawn,                                                          \
         (pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,             \
          const posix_spawnattr_t *attributes, char *const arguments[],                            \
          char *const environment[]),                                                              \
         (process, path, actions, attributes, arguments, environment), EAGAIN, EAGAIN)             \
    CALL(FAULT_THREAD, int, pthread_create,                                                        \
         (pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),             \
          void *argument),                                                                         \
         (thread, attributes, start, argument), EAGAIN, EAGAIN)                                    \
    CALL(FAULT_EVENTFD, int, eventfd, (unsigned count, int flags), (count, flags), EMFILE, -1)     \
    CALL(FAULT_EPOLL, int, epoll_create1, (int flags), (flags), EMFILE, -1)                        \
    CALL(FAULT_SOCKET, int, socket, (int domain, int type, int protocol),                          \
         (domain, type, protocol), EMFILE, -1)                                                     \
    CALL(FAULT_SOCKET, int, bind,                                                                  \
         (int descriptor, __CONST_SOCKADDR_ARG address, socklen_t size),                           \
         (descriptor, address, size), EACCES, -1)                                                  \
    CALL(FAULT_SOCKET, int, listen, (int descriptor, int backlog), (descriptor, backlog),          \
         EADDRINUSE, -1)                                                                           \
    CALL(FAULT_SOCKET, int, socketpair, (int domain, int type, int protocol, int ends[2]),         \
         (domain, type, protocol, ends), EMFILE, -1)                                               \
    CALL(FAULT_ACCEPT, int, accept4,                                                               \
         (int descriptor, __SOCKADDR_ARG address, socklen_t *size, int flags),                     \
         (descriptor, address, size, flags), EMFILE, -1)
/* clang-format on */

#define FAULT_CALLS(CALL)                                                                          \
    FAULT_CALLS_OF_MEMORY(CALL)                                                                    \
    FAULT_CALLS_OF_FILES(CALL)                                                                     \
    FAULT_CALLS_OF_OTHERS(CALL)

#endif
