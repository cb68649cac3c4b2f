/* SPDX-License-Identifier: MIT */
#include "lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

void lifeline_init(struct lifeline *lifeline)
{
    *lifeline = (struct lifeline){ { -1, -1 } };
}

/* Sends SIGKILL instead of SIGIO; to nobody as long as no group is bound. */
static int arm(int end)
{
    int flags = fcntl(end, F_GETFL);

    return flags < 0 || fcntl(end, F_SETSIG, SIGKILL) < 0 ||
                   fcntl(end, F_SETFL, flags | O_ASYNC) < 0
               ? errno
               : 0;
}

int lifeline_open(struct lifeline *lifeline)
{
    int error = 0;

    lifeline_init(lifeline);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lifeline->ends) < 0)
        return errno;
    for (unsigned i = 0; i < LIFELINE_ENDS && error == 0; i++)
        error = arm(lifeline->ends[i]);
    if (error != 0)
        lifeline_close(lifeline);
    return error;
}

void lifeline_close(struct lifeline *lifeline)
{
    for (unsigned i = 0; i < LIFELINE_ENDS; i++) {
        if (lifeline->ends[i] >= 0)
            (void)close(lifeline->ends[i]);
    }
    lifeline_init(lifeline);
}

int lifeline_bind(const struct lifeline *lifeline)
{
    for (unsigned i = 0; i < LIFELINE_ENDS; i++) {
        if (fcntl(lifeline->ends[i], F_SETOWN, -getpgrp()) < 0)
            return errno;
    }
    return 0;
}
