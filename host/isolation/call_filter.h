/* SPDX-License-Identifier: MIT */
/*
 * isolation/call_filter.h - a filter of the system calls of a sandbox.
 *
 * A call that it forbids fails with EPERM: those that reach other processes, that leave the group
 * of the process, that administer the machine, or that change files by their paths in ways which
 * landlock does not know.
 */
#ifndef HOST_ISOLATION_CALL_FILTER_H
#define HOST_ISOLATION_CALL_FILTER_H

#include <stdbool.h>

bool call_filter_is_there(void);
/* For all threads of this process. `network`: it may make sockets. `no_truncate`: files are not
 * truncated by their paths. Returns 0 or an errno. */
int call_filter_enter(bool network, bool no_truncate);

#endif
