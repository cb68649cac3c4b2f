/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"

void child_init(struct child *child)
{
    *child = (struct child){ .descriptor = -1 };
    lifeline_init(&child->lifeline);
}

/* --- starting --------------------------------------------------------------------------------- */

static void close_moved(const int *descriptors, const int *moved, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (moved[i] != descriptors[i])
            (void)close(moved[i]);
    }
}

/* A descriptor with the number of one of the child is duplicated: dup2 would overwrite one with the
 * other. */
static int move_up(const int *descriptors, size_t count, int *out_moved)
{
    for (size_t i = 0; i < count; i++) {
        out_moved[i] = descriptors[i] < (int)count
                           ? fcntl(descriptors[i], F_DUPFD_CLOEXEC, (int)count)
                           : descriptors[i];
        if (out_moved[i] < 0) {
            int error = errno;

            close_moved(descriptors, out_moved, i);
            return error;
        }
    }
    return 0;
}

static int start(struct child *child, const struct child_plan *plan, char *const *arguments,
                 const int *descriptors, size_t count)
{
    int moved[CHILD_DESCRIPTORS_MAX] = { 0 };
    int error = move_up(descriptors, count, moved);

    if (error != 0)
        return error;
    error = launch(&(struct launch){ .program = plan->program,
                                     .directory = plan->directory,
                                     .arguments = arguments,
                                     .variables = plan->variables,
                                     .lifeline = &child->lifeline,
                                     .descriptors = moved,
                                     .count = count },
                   &child->process);
    close_moved(descriptors, moved, count);
    return error;
}

int child_start(struct child *child, const struct child_plan *plan, char *const *arguments,
                const int *descriptors, size_t count)
{
    int error;

    child_init(child);
    error = lifeline_open(&child->lifeline);
    if (error == 0)
        error = start(child, plan, arguments, descriptors, count);
    if (error != 0) {
        lifeline_close(&child->lifeline);
        return error;
    }
    child->descriptor = pidfd_open(child->process, 0);
    if (child->descriptor >= 0)
        return 0;
    error = errno;
    (void)child_reap(child, -1);
    return error;
}

/* --- ending ----------------------------------------------------------------------------------- */

void child_signal(const struct child *child, int signal_number)
{
    if (child->process > 0)
        (void)kill(-child->process, signal_number);
}

bool child_has_ended(const struct child *child, struct child_end *out_end)
{
    siginfo_t about = { .si_pid = 0 };

    /* ECHILD: other code in this program has reaped it, so its exit status is unknown. */
    if (waitid(P_PID, (id_t)child->process, &about, WEXITED | WNOHANG | WNOWAIT) < 0) {
        *out_end = (struct child_end){ .by_signal = true, .number = 0 };
        return true;
    }
    if (about.si_pid == 0)
        return false;
    *out_end = (struct child_end){ .by_signal = about.si_code != CLD_EXITED,
                                   .number = about.si_status };
    return true;
}

bool child_wait(const struct child *child, int wait_ms)
{
    struct pollfd end = { .fd = child->descriptor, .events = POLLIN };
    int ready;

    do
        ready = poll(&end, 1, wait_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

bool child_reap(struct child *child, int wait_ms)
{
    bool ended;

    if (child->process <= 0)
        return true;
    child_signal(child, SIGKILL);
    /* After SIGKILL a process ends soon, unless it waits for a device. */
    ended = child->descriptor < 0 || wait_ms < 0 || child_wait(child, wait_ms);
    while (ended && waitpid(child->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (child->descriptor >= 0)
        (void)close(child->descriptor);
    lifeline_close(&child->lifeline);
    child_init(child);
    return ended;
}
