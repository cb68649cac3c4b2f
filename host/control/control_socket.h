/*
 * control/control_socket.h - the unix socket by which a running host is asked things.
 *
 * Only the host's own user and root are served: the file is 0660, and whoever connects is asked
 * for by the kernel's word (SO_PEERCRED), not by the file's mode alone.
 */
#ifndef HOST_CONTROL_CONTROL_SOCKET_H
#define HOST_CONTROL_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/report.h"

#define CONTROL_SOCKET_PATH_MAX 108 /* of the kernel's, with the NUL */

/* A host holds the lock of the folder for a millisecond; longer holds it only somebody who may read
 * the folder and wants to keep us out, for whom nobody waits. */
#define CONTROL_LOCK_MS 1000u

/* A listening socket and the file that stands for it. */
struct control_socket {
    int descriptor;
    char path[CONTROL_SOCKET_PATH_MAX]; /* "" = there is none */
    dev_t device;                       /* of the file, so that another host's is never removed */
    ino_t inode;
};

/*
 * Makes and binds the socket at `path`, and listens. A file that a host left behind is replaced;
 * one at which somebody listens is not, nor is anything that is no socket. Waits CONTROL_LOCK_MS at
 * most, for other hosts that start in the same folder. WEIR_EINVALID with what
 * is wrong in `report`, at `mark` (may be NULL), where the file names it.
 */
int control_socket_listen(const char *path, const struct mark *mark, struct report *report,
                          struct control_socket *out);

/* True when the file at `path` is this socket's: it may have more names than one. */
bool control_socket_is_at(const struct control_socket *made, const char *path);

/* Removes its file, if that is still its own: nobody else will connect. */
void control_socket_remove(struct control_socket *made);
/* The same, and closes it. */
void control_socket_close(struct control_socket *made);

/*
 * Connects to the host at `path`: the descriptor, owned by the caller, or a negative errno.
 * -ENAMETOOLONG: longer than a socket's path may be. -EAGAIN: as many as may wait there wait
 * already, and none was accepted within `patience_ms`, at least 1.
 */
int control_socket_connect(const char *path, uint32_t patience_ms);

/*
 * For who has connected to `path`: true when the process that listens there belongs to root, to our
 * user, or to the owner of the folder. Else its user is in `out_stranger`.
 */
bool control_socket_is_trusted(int descriptor, const char *path, uid_t *out_stranger);

/* True when the process at the other end belongs to our user, or to root. */
bool control_socket_is_ours(int descriptor);

#endif
