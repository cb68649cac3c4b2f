/* SPDX-License-Identifier: MIT */
/*
 * lifeline.h - ends a child and its group with the host, also when SIGKILL ends the host.
 *
 * Two sockets that the host alone has open. When the host ends, the kernel closes both, one after
 * the other, and the close of one makes it send SIGKILL to the owner of the other: the process
 * group that is bound to both. A child has none of their descriptors, so it cannot close them. A
 * process that leaves its group escapes. PR_SET_PDEATHSIG would not do: it fires when the thread
 * ends that has started the child.
 *
 * Life: lifeline_init, lifeline_open .. lifeline_close. Not synchronised.
 */
#ifndef LIFELINE_H
#define LIFELINE_H

#define LIFELINE_ENDS 2u

struct lifeline {
    int ends[LIFELINE_ENDS]; /* owned; -1 = none */
};

void lifeline_init(struct lifeline *lifeline);
/* 0 or an errno. */
int lifeline_open(struct lifeline *lifeline);
/* Kills the group that is bound. Legal after a failed lifeline_open, and twice. */
void lifeline_close(struct lifeline *lifeline);

/*
 * Binds the process group of the caller. In a new process, before exec: makes system calls only. If
 * the host has ended by then, the copies of the new process are the last ones, and exec closes
 * them: the program does not run. 0 or an errno.
 */
int lifeline_bind(const struct lifeline *lifeline);

#endif
