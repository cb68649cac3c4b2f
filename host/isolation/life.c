/* SPDX-License-Identifier: MIT */
#include "host/isolation/life.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/isolation/dialogue.h"

#define PROGRAM "/proc/self/exe"
#define HIGH_DESCRIPTOR 10 /* above those of the new process */
#define ENDS 4

/* Copies above the final numbers: after dup2 to the same number exec would close it. */
static int raise_all(const int *given, int *out)
{
    for (int i = 0; i < ENDS; i++) {
        out[i] = fcntl(given[i], F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
        if (out[i] < 0)
            return errno;
    }
    return 0;
}

static int set_descriptors(posix_spawn_file_actions_t *actions, const int *ends)
{
    static const int numbers[ENDS] = { DIALOGUE_BELL, DIALOGUE_SEGMENT, DIALOGUE_LIFELINE,
                                       DIALOGUE_IMAGE };
    int status = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    for (int i = 0; i < ENDS && status == 0; i++)
        status = posix_spawn_file_actions_adddup2(actions, ends[i], numbers[i]);
    if (status == 0)
        status = posix_spawn_file_actions_addclosefrom_np(actions, DIALOGUE_FIRST_FREE);
    return status;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    int status = posix_spawnattr_setpgroup(attributes, 0);

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    if (status == 0)
        status = posix_spawnattr_setsigdefault(attributes, &all);
    if (status == 0)
        status = posix_spawnattr_setsigmask(attributes, &none);
    if (status == 0)
        status = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return status;
}

static int spawn(struct life *life, const int *ends)
{
    char *arguments[] = { "weir", WORKER_COMMAND, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int status = posix_spawn_file_actions_init(&actions);

    if (status != 0)
        return status;
    status = posix_spawnattr_init(&attributes);
    if (status == 0) {
        status = set_descriptors(&actions, ends);
        if (status == 0)
            status = set_attributes(&attributes);
        if (status == 0)
            status = posix_spawn(&life->process, PROGRAM, &actions, &attributes, arguments,
                                 environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return status;
}

static void close_if_open(int *descriptor)
{
    if (*descriptor >= 0)
        (void)close(*descriptor);
    *descriptor = -1;
}

int life_start(struct life *life, int bell, int segment, int image)
{
    int ends[ENDS] = { -1, -1, -1, -1 }, line[2];
    int status;

    *life = (struct life){ .end = -1, .lifeline = -1 };
    if (pipe2(line, O_CLOEXEC) != 0)
        return errno;
    life->lifeline = line[1];
    status = raise_all((const int[ENDS]){ bell, segment, line[0], image }, ends);
    if (status == 0)
        status = spawn(life, ends);
    for (int i = 0; i < ENDS; i++)
        close_if_open(&ends[i]);
    (void)close(line[0]);
    if (status == 0)
        life->end = pidfd_open(life->process, 0);
    else
        close_if_open(&life->lifeline);
    return status;
}

/* The soft limit only: the hard one stays as it is, so that a reload can raise the soft one. */
static void limit(pid_t process, enum __rlimit_resource resource, uint64_t given)
{
    struct rlimit own, now;

    if (getrlimit(resource, &own) != 0 || prlimit(process, resource, NULL, &now) != 0)
        return; /* it has ended */
    now.rlim_cur = given ? given : own.rlim_cur;
    if (now.rlim_cur > now.rlim_max)
        now.rlim_cur = now.rlim_max;
    (void)prlimit(process, resource, &now, NULL);
}

void life_limit(const struct life *life, uint64_t memory, uint32_t files)
{
    limit(life->process, RLIMIT_DATA, memory);
    limit(life->process, RLIMIT_NOFILE, files);
}

uint64_t life_memory(const struct life *life)
{
    char path[64];
    uint64_t pages = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%ld/statm", (long)life->process);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %" SCNu64, &pages) != 1) /* NOLINT(cert-err34-c): the kernel's format */
        pages = 0;
    (void)fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool life_is_over(const struct life *life)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t)life->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

static void describe(int status, char *how, size_t size)
{
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));

        (void)snprintf(how, size, "killed by SIG%s", name ? name : "?");
    } else {
        (void)snprintf(how, size, "exit code %d", WEXITSTATUS(status));
    }
}

void life_end(struct life *life, char *how, size_t size)
{
    int status = 0;
    pid_t reaped;

    /* Before the process is reaped: until then the number of its group is not reused. */
    (void)kill(-life->process, SIGKILL);
    (void)kill(life->process, SIGKILL); /* it may have left its group */
    do
        reaped = waitpid(life->process, &status, 0);
    while (reaped < 0 && errno == EINTR);
    describe(status, how, size);
    close_if_open(&life->end);
    close_if_open(&life->lifeline);
    life->process = 0;
}
