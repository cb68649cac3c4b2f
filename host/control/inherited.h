/* SPDX-License-Identifier: MIT */
/*
 * control/inherited.h - listening sockets that the service manager has opened: sd_listen_fds(3).
 *
 * The manager passes descriptors from number 3 on, $LISTEN_FDS of them, to process $LISTEN_PID.
 * They stay open and in place, since plugins may take others of them.
 */
#ifndef HOST_CONTROL_INHERITED_H
#define HOST_CONTROL_INHERITED_H

/* A duplicate of the unix stream socket that listens at `path`, owned by the caller; -1: the
 * manager has passed none, or its file is gone. Any thread. */
int inherited_listener(const char *path);

#endif
