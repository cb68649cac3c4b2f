/* SPDX-License-Identifier: MIT */
/*
 * control/control_socket.h - the unix socket of a running host.
 *
 * It serves only the host's own user and root. The file has mode 0660, and the kernel reports the
 * user of each client (SO_PEERCRED), so the mode is not the only guard.
 */
#ifndef HOST_CONTROL_CONTROL_SOCKET_H
#define HOST_CONTROL_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/report.h"

#define CONTROL_SOCKET_PATH_MAX 108 /* the kernel's limit, with the NUL */

/* A host holds the folder's lock for a millisecond. Another user who may read the folder could hold
 * it longer, to keep us out: we do not wait for that. */
#define CONTROL_LOCK_MS 1000u

/* A listening socket and its file. */
struct control_socket {
    int descriptor;
    char path[CONTROL_SOCKET_PATH_MAX]; /* "" = there is none */
    bool inherited;                     /* the file belongs to the service manager */
    dev_t device; /* of the file, so that the file of another host is never removed */
    ino_t inode;
};

/*
 * Makes and binds the socket at `path`, and listens; or takes the one that the service manager has
 * opened there (inherited.h). Replaces a file that an ended host left behind; refuses a file where
 * a host listens, and a file that is no socket. Waits at most CONTROL_LOCK_MS for other hosts that
 * start in the same folder. WEIR_EINVALID with the reason in `report`, at `mark` (may be NULL), the
 * position in the configuration.
 */
int control_socket_listen(const char *path, const struct mark *mark, struct report *report,
                          struct control_socket *out);

/* True when the file at `path` is this socket's: a file may have several names. */
bool control_socket_is_at(const struct control_socket *made, const char *path);

/* Removes its file, if it is still its own, and not the service manager's: no further client can
 * connect. */
void control_socket_remove(struct control_socket *made);
/* As control_socket_remove, and closes the socket. */
void control_socket_close(struct control_socket *made);

/*
 * Connects to the host at `path`. Returns the descriptor, owned by the caller, or a negative errno.
 * -ENAMETOOLONG: longer than a socket's path may be. -EAGAIN: the backlog is full, and the host
 * accepted no connection within `timeout_ms`, at least 1.
 */
int control_socket_connect(const char *path, uint32_t timeout_ms);

/*
 * For a connection to `path`: true when the listening process belongs to root, to our user, or to
 * the owner of the folder. Else returns its user in `out_stranger`.
 */
bool control_socket_is_trusted(int descriptor, const char *path, uid_t *out_stranger);

/* True when the process at the other end belongs to our user, or to root. */
bool control_socket_is_ours(int descriptor);

#endif
