/* SPDX-License-Identifier: MIT */
/*
 * Preloaded to a host: one call of the C library fails, the nth one of its kind. The file that
 * WEIR_TEST_FAULT names says which, and gets what happened (struct record; faults.py has the same).
 *
 * The calls of all processes whose name is weir count together, in the order in which they come:
 * the host, its tries of plugins and its workers in processes. Those of the C library and of
 * libuv within themselves do not count. A call fails only in a way in which the system lets it
 * fail for want of something: FUTEX_WAKE, or a write to a pipe, does not.
 */
#include "unit/support/fault_calls.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define VISIBLE __attribute__((visibility("default")))
#define FRAMES_MAX 24
#define RANGES_MAX 8

/* Shared by the processes, and with faults.py. */
struct record {
    char wanted[32];        /* a kind, or the name of a call */
    uint64_t nth;           /* of those: the call that fails; 0: none does */
    _Atomic uint64_t count; /* of those that there were */
    _Atomic uint32_t host;  /* the first process */
    uint32_t descriptors;   /* that the host had open at its exit */
    char name[32];          /* of the call that failed; empty: none did */
};

static const char *const kinds[] = {
    [FAULT_MEMORY] = "memory",   [FAULT_MAP] = "map",         [FAULT_THREAD] = "thread",
    [FAULT_FUTEX] = "futex",     [FAULT_EVENTFD] = "eventfd", [FAULT_EPOLL] = "epoll",
    [FAULT_OPEN] = "open",       [FAULT_READ] = "read",       [FAULT_WRITE] = "write",
    [FAULT_SYNC] = "sync",       [FAULT_RENAME] = "rename",   [FAULT_PLUGIN] = "plugin",
    [FAULT_PROCESS] = "process", [FAULT_SOCKET] = "socket",   [FAULT_ACCEPT] = "accept",
    [FAULT_FILE] = "file",
};

struct range {
    uintptr_t begin, end;
};

static struct record *record; /* NULL: no call fails in this process */
static int trace = -1;        /* where the stack of the call goes */
static struct range foreign[RANGES_MAX];
static size_t foreign_count;
static _Thread_local bool is_inside __attribute__((tls_model("initial-exec")));

/* --- which call fails ------------------------------------------------------------------------- */

static bool is_foreign(const void *caller)
{
    uintptr_t address = (uintptr_t)caller;

    for (size_t i = 0; i < foreign_count; i++)
        if (address >= foreign[i].begin && address < foreign[i].end)
            return true;
    return false;
}

static void note(const char *name)
{
    void *frames[FRAMES_MAX];

    (void)snprintf(record->name, sizeof record->name, "%s", name);
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), trace);
}

static bool strikes(enum fault_kind kind, const char *name, const void *caller)
{
    if (!record || is_inside || is_foreign(caller) ||
        (strcmp(kinds[kind], record->wanted) != 0 && strcmp(name, record->wanted) != 0))
        return false;
    if (atomic_fetch_add(&record->count, 1) + 1 != record->nth)
        return false;
    is_inside = true;
    note(name);
    is_inside = false;
    return true;
}

#define STRIKES(kind, name) strikes(kind, name, __builtin_return_address(0))
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real)                                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

/* --- calls by the lists ----------------------------------------------------------------------- */

/* dlsym may want memory. */
#define ALLOCATION(kind, result, name, parameters, arguments, error, failed)                       \
    result __libc_##name parameters;                                                               \
    VISIBLE result name parameters                                                                 \
    {                                                                                              \
        if (!STRIKES(kind, #name))                                                                 \
            return __libc_##name arguments;                                                        \
        errno = error;                                                                             \
        return failed;                                                                             \
    }

#define CALL(kind, result, name, parameters, arguments, error, failed)                             \
    VISIBLE result name parameters;                                                                \
    VISIBLE result name parameters                                                                 \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!STRIKES(kind, #name))                                                                 \
            return real arguments;                                                                 \
        errno = error;                                                                             \
        return failed;                                                                             \
    }

FAULT_ALLOCATIONS(ALLOCATION)
FAULT_CALLS(CALL)

/* --- what only some descriptors can lack ------------------------------------------------------ */

/* Adds the path of the descriptor to the trace. */
static bool transfer_strikes(enum fault_kind kind, const char *name, int descriptor,
                             const void *caller)
{
    char link[32], path[PATH_MAX];
    ssize_t size;

    if (!strikes(kind, name, caller))
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    size = readlink(link, path, sizeof path - 1);
    if (size > 0) {
        path[size] = '\n';
        (void)syscall(SYS_write, trace, path, (size_t)size + 1);
    }
    return true;
}

/* The error of a transfer that finds no room or no memory; 0: it cannot fail so. */
static int error_of_transfer(int descriptor, bool is_write)
{
    struct stat status;
    int before = errno;

    if (!record || is_inside || syscall(SYS_fstat, descriptor, &status) != 0) {
        errno = before;
        return 0;
    }
    if (S_ISREG(status.st_mode))
        return is_write ? ENOSPC : EIO;
    return is_write && S_ISSOCK(status.st_mode) ? ENOBUFS : 0;
}

#define TRANSFER(kind, name, parameters, arguments)                                                \
    VISIBLE ssize_t name parameters;                                                               \
    VISIBLE ssize_t name parameters                                                                \
    {                                                                                              \
        int error = error_of_transfer(descriptor, (kind) == FAULT_WRITE);                          \
        REAL(name);                                                                                \
        if (error == 0 || !transfer_strikes(kind, #name, descriptor, __builtin_return_address(0))) \
            return real arguments;                                                                 \
        errno = error;                                                                             \
        return -1;                                                                                 \
    }

TRANSFER(FAULT_READ, read, (int descriptor, void *bytes, size_t size), (descriptor, bytes, size))
TRANSFER(FAULT_READ, pread, (int descriptor, void *bytes, size_t size, off_t offset),
         (descriptor, bytes, size, offset))
TRANSFER(FAULT_WRITE, write, (int descriptor, const void *bytes, size_t size),
         (descriptor, bytes, size))
TRANSFER(FAULT_WRITE, pwrite, (int descriptor, const void *bytes, size_t size, off_t offset),
         (descriptor, bytes, size, offset))
TRANSFER(FAULT_WRITE, writev, (int descriptor, const struct iovec *pieces, int count),
         (descriptor, pieces, count))
TRANSFER(FAULT_WRITE, send, (int descriptor, const void *bytes, size_t size, int flags),
         (descriptor, bytes, size, flags))

/* --- calls of another form -------------------------------------------------------------------- */

/* There is a mode where a file may be made. */
#define OPENING(name, parameters, ...)                                                             \
    VISIBLE int name parameters                                                                    \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        va_list more;                                                                              \
                                                                                                   \
        REAL(name);                                                                                \
        if (STRIKES(FAULT_OPEN, #name)) {                                                          \
            errno = EMFILE;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        va_start(more, flags);                                                                     \
        if (flags & O_CREAT)                                                                       \
            mode = va_arg(more, mode_t);                                                           \
        va_end(more);                                                                              \
        return real(__VA_ARGS__, mode);                                                            \
    }

OPENING(open, (const char *path, int flags, ...), path, flags)
OPENING(openat, (int folder, const char *path, int flags, ...), folder, path, flags)

static int error_of_fcntl(int command)
{
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return EMFILE;
    return command == F_SETLK || command == F_OFD_SETLK ? ENOLCK : 0;
}

/* The command decides the type of the last parameter; all types here fit. */
VISIBLE int fcntl(int descriptor, int command, ...)
{
    int error = error_of_fcntl(command);
    va_list more;
    void *last;

    REAL(fcntl);
    if (error != 0 && STRIKES(FAULT_FILE, "fcntl")) {
        errno = error;
        return -1;
    }
    va_start(more, command);
    last = va_arg(more, void *);
    va_end(more);
    return real(descriptor, command, last);
}

VISIBLE int asprintf(char **out, const char *format, ...)
{
    va_list values;
    int size;

    if (STRIKES(FAULT_MEMORY, "asprintf"))
        return -1;
    va_start(values, format);
    size = vasprintf(out, format, values);
    va_end(values);
    return size;
}

VISIBLE int scandir(const char *folder, struct dirent ***out, int (*filter)(const struct dirent *),
                    int (*compare)(const struct dirent **, const struct dirent **))
{
    REAL(scandir);
    if (!STRIKES(FAULT_OPEN, "scandir"))
        return real(folder, out, filter, compare);
    errno = ENOMEM;
    return -1;
}

VISIBLE int epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event)
{
    REAL(epoll_ctl);
    if (operation != EPOLL_CTL_ADD || !STRIKES(FAULT_EPOLL, "epoll_ctl"))
        return real(set, operation, descriptor, event);
    errno = ENOSPC;
    return -1;
}

VISIBLE int epoll_wait(int set, struct epoll_event *events, int count, int timeout)
{
    REAL(epoll_wait);
    if (!STRIKES(FAULT_EPOLL, "epoll_wait"))
        return real(set, events, count, timeout);
    errno = EINTR;
    return -1;
}

/* A wait may end without a reason. A barrier of all threads needs memory; a wake does not. */
static int error_of_call(long number, long operation)
{
    if (number == SYS_futex && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return EINTR;
    return number == SYS_membarrier ? ENOMEM : 0;
}

VISIBLE long syscall(long number, ...)
{
    long values[6];
    va_list more;
    int error;

    REAL(syscall);
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        values[i] = va_arg(more, long);
    va_end(more);
    error = error_of_call(number, values[number == SYS_futex]);
    if (error == 0 || !STRIKES(FAULT_FUTEX, number == SYS_futex ? "futex" : "membarrier"))
        return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    errno = error;
    return -1;
}

#ifdef __x86_64__
/* The new process returns to the caller with the stack as it is here: the call of the C library
 * takes the place of this one. */
__attribute__((used)) static void *real_vfork;

__attribute__((used)) static bool vfork_strikes(const void *caller)
{
    if (!real_vfork)
        real_vfork = dlsym(RTLD_NEXT, "vfork");
    if (!strikes(FAULT_PROCESS, "vfork", caller))
        return false;
    errno = EAGAIN;
    return true;
}

VISIBLE __attribute__((naked)) pid_t vfork(void)
{
    __asm__("movq (%rsp), %rdi\n\t"
            "subq $8, %rsp\n\t"
            "call vfork_strikes\n\t"
            "addq $8, %rsp\n\t"
            "testb %al, %al\n\t"
            "jne 1f\n\t"
            "jmp *real_vfork(%rip)\n"
            "1:\tmovl $-1, %eax\n\t"
            "ret");
}
#endif

/* Libraries are built with these names. */
VISIBLE int open64(const char *path, int flags, ...) __attribute__((alias("open")));
VISIBLE int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));
VISIBLE int fcntl64(int descriptor, int command, ...) __attribute__((alias("fcntl")));
VISIBLE FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
VISIBLE void *mmap64(void *at, size_t size, int protection, int flags, int descriptor,
                     off64_t offset) __attribute__((alias("mmap")));
VISIBLE ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t offset)
    __attribute__((alias("pread")));
VISIBLE ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset)
    __attribute__((alias("pwrite")));

/* --- the process ------------------------------------------------------------------------------ */

static int note_foreign(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (!strstr(info->dlpi_name, "/libc.so") && !strstr(info->dlpi_name, "/ld-linux") &&
        !strstr(info->dlpi_name, "/libuv.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && foreign_count < RANGES_MAX; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags & PF_X)
            foreign[foreign_count++] = (struct range){
                info->dlpi_addr + part->p_vaddr, info->dlpi_addr + part->p_vaddr + part->p_memsz
            };
    }
    return 0;
}

__attribute__((constructor)) static void join(void)
{
    const char *path = getenv("WEIR_TEST_FAULT");
    void *frames[1], *map;
    uint32_t none = 0;
    char *trace_path = NULL;
    int descriptor;

    if (!path || strcmp(program_invocation_short_name, "weir") != 0)
        return;
    (void)dl_iterate_phdr(note_foreign, NULL);
    (void)backtrace(frames, 1); /* it loads a library the first time */
    descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return;
    map = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    (void)close(descriptor);
    if (map == MAP_FAILED)
        return;
    if (asprintf(&trace_path, "%s.trace", path) >= 0)
        trace = open(trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    free(trace_path);
    record = map;
    (void)atomic_compare_exchange_strong(&record->host, &none, (uint32_t)getpid());
}

__attribute__((destructor)) static void count_descriptors(void)
{
    if (!record || atomic_load(&record->host) != (uint32_t)getpid())
        return;
    record->descriptors = 0;
    for (int descriptor = 0; descriptor < 4096; descriptor++)
        if (syscall(SYS_fcntl, descriptor, F_GETFD) >= 0)
            record->descriptors++;
}
