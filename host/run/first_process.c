/* SPDX-License-Identifier: MIT */
#include "host/run/first_process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNALLED 128 /* as a shell has it: process 1 cannot end by a signal of its own */

/* --- process 1 ------------------------------------------------------------------------------ */

static bool reap(pid_t host, int *out_code)
{
    bool host_has_ended = false;
    int status;
    pid_t ended;

    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended == host) {
            host_has_ended = true;
            *out_code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
        }
    }
    return host_has_ended;
}

/* All signals are blocked here, so none is missed between two waits. */
static _Noreturn void serve(pid_t host)
{
    sigset_t all;
    int number, code = 0;

    (void)sigfillset(&all);
    for (;;) {
        if (sigwait(&all, &number) != 0)
            continue;
        if (number != SIGCHLD)
            (void)kill(host, number);
        else if (reap(host, &code))
            _exit(code);
    }
}

/* --- the host ------------------------------------------------------------------------------- */

/* A variable that names process 1 means the host. */
static void rename_process(const char *name)
{
    const char *process = getenv(name);
    char text[16];

    if (!process || strcmp(process, "1") != 0)
        return;
    (void)snprintf(text, sizeof text, "%d", (int)getpid());
    (void)setenv(name, text, 1);
}

/* Keys of a terminal signal its foreground group: this one alone, or the host would get each signal
 * twice. SIGTTOU is blocked. */
static void take_terminal(void)
{
    pid_t before = getpgrp();

    if (setpgid(0, 0) == 0 && tcgetpgrp(STDIN_FILENO) == before)
        (void)tcsetpgrp(STDIN_FILENO, getpid());
}

int first_process_leave(void)
{
    sigset_t all, before;
    pid_t host;

    if (getpid() != 1)
        return 0;
    /* If it is ignored the kernel reaps, and says nothing of the host. */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    host = fork();
    if (host > 0)
        serve(host);
    if (host == 0) {
        take_terminal();
        rename_process("LISTEN_PID");
        rename_process("WATCHDOG_PID");
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return host < 0 ? errno : 0;
}
