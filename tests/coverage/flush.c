/* SPDX-License-Identifier: MIT */
/* Linked to each program of preset `coverage`: a program writes its counts also when it ends by
 * _exit, by a signal that it raises, or by SIGKILL of another program of ours. */
#include <gcov.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAST_WISH (SIGRTMAX - 1) /* no program of ours uses it */
#define WRITE_MS 2000            /* a program that hangs writes nothing */

void __real__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));
int __real_raise(int number);
int __wrap_raise(int number);
int __real_kill(pid_t process, int number);
int __wrap_kill(pid_t process, int number);

void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}

int __wrap_raise(int number)
{
    __gcov_dump();
    __gcov_reset(); /* a program that goes on writes again */
    return __real_raise(number);
}

static void on_last_wish(int number)
{
    (void)number;
    __gcov_dump();
    (void)__real_kill(getpid(), SIGKILL);
}

__attribute__((constructor)) static void await_last_wish(void)
{
    struct sigaction action = { .sa_handler = on_last_wish };

    (void)sigfillset(&action.sa_mask);
    (void)sigaction(LAST_WISH, &action, NULL);
}

/* Whether a process runs the program that this one runs. */
static bool is_like_us(pid_t process)
{
    char path[64], ours[PATH_MAX], theirs[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", ours, sizeof ours);

    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)process);
    return size > 0 && readlink(path, theirs, sizeof theirs) == size &&
           memcmp(ours, theirs, (size_t)size) == 0;
}

int __wrap_kill(pid_t process, int number)
{
    pid_t leader = abs(process);

    if (number == SIGKILL && leader > 1 && leader != getpid() && is_like_us(leader)) {
        struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, leader, 0), .events = POLLIN };

        if (end.fd >= 0 && __real_kill(leader, LAST_WISH) == 0)
            (void)poll(&end, 1, WRITE_MS);
        if (end.fd >= 0)
            (void)close(end.fd);
    }
    return __real_kill(process, number);
}
