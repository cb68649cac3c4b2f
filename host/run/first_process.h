/* SPDX-License-Identifier: MIT */
/*
 * run/first_process.h - a host that is process 1, as in a container, runs as a child of itself.
 *
 * The kernel gives orphans to process 1, which must reap them. A host cannot: its plugins wait for
 * the children that they have started, and a wait for any child would take their ends away. So
 * process 1 passes its signals on to the host, reaps, and ends as the host ends.
 */
#ifndef HOST_RUN_FIRST_PROCESS_H
#define HOST_RUN_FIRST_PROCESS_H

/* Before the first thread. In process 1: forks, and returns in the child. 0, or an errno: no child
 * could be made. Elsewhere: nothing. */
int first_process_leave(void);

#endif
