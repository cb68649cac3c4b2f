/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nobody sees it. */
#define NOT_STARTED 127

/* --- in the new process ----------------------------------------------------------------------- */

static int set_descriptors(const struct launch *launch)
{
    for (size_t i = 0; i < launch->count; i++) {
        if (dup2(launch->descriptors[i], (int)i) < 0)
            return errno;
    }
    closefrom((int)launch->count);
    return 0;
}

/* No handler of the host may run here: all signals are blocked until each has its default. Those of
 * glibc and SIGKILL cannot be set, and have it already after exec. */
static int set_signals(void)
{
    const struct sigaction by_default = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &by_default, NULL);
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? errno : 0;
}

static int prepare(const struct launch *launch)
{
    int error = setpgid(0, 0) < 0 ? errno : 0;

    if (error == 0)
        error = lifeline_bind(launch->lifeline);
    if (error == 0)
        error = set_descriptors(launch);
    if (error == 0 && launch->directory && chdir(launch->directory) < 0)
        error = errno;
    return error == 0 ? set_signals() : error;
}

static _Noreturn void become(const struct launch *launch, atomic_int *out_error)
{
    int error = prepare(launch);

    if (error == 0) {
        (void)execve(launch->program, launch->arguments, launch->variables);
        error = errno;
    }
    /* Relaxed: the thread of the host waits in vfork until this process has left its memory. */
    atomic_store_explicit(out_error, error, memory_order_relaxed);
    _exit(NOT_STARTED);
}

/* --- in the host ------------------------------------------------------------------------------ */

static void reap(pid_t process)
{
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int launch(const struct launch *launch, pid_t *out_process)
{
    atomic_int failure = 0; /* written by the new process */
    sigset_t all, before;
    pid_t process;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    /* The host stands still for as long as posix_spawn would hold it, which is a vfork, too. */
    process = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    if (process == 0)
        become(launch, &failure); /* NOLINT(clang-analyzer-unix.Vfork) */
    error = process < 0 ? errno : atomic_load_explicit(&failure, memory_order_relaxed);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (process > 0 && error != 0)
        reap(process);
    if (error == 0)
        *out_process = process;
    return error;
}
