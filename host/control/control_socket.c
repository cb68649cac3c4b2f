/* SPDX-License-Identifier: MIT */
#include "host/control/control_socket.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/status.h>

#include "base/clock.h"
#include "host/control/inherited.h"

#define BACKLOG 128 /* the kernel's usual limit; further clients wait in connect() */
#define MODE 0660
#define LOOK_MS 10 /* between two tries to take a lock */

static_assert(sizeof((struct sockaddr_un *)0)->sun_path == CONTROL_SOCKET_PATH_MAX,
              "a path of the kernel's");

static int fill_address(const char *path, struct sockaddr_un *address)
{
    size_t length = strlen(path);

    if (length >= sizeof address->sun_path)
        return -ENAMETOOLONG;
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(address->sun_path, path, length + 1);
    return 0;
}

static int make_socket(void)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return descriptor < 0 ? -errno : descriptor;
}

int control_socket_connect(const char *path, uint32_t timeout_ms)
{
    struct timeval timeout = { .tv_sec = timeout_ms / 1000,
                               .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000 };
    struct sockaddr_un address;
    int status = fill_address(path, &address);
    int descriptor;

    if (status != 0)
        return status;
    descriptor = make_socket();
    if (descriptor < 0)
        return descriptor;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
        return descriptor;
    status = -errno;
    close(descriptor);
    return status;
}

static bool read_peer(int descriptor, uid_t *out_user)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *out_user = peer.uid;
    return true;
}

bool control_socket_is_ours(int descriptor)
{
    uid_t user;

    return read_peer(descriptor, &user) && (user == 0 || user == geteuid());
}

/* The folder in which the socket's file lies, of CONTROL_SOCKET_PATH_MAX bytes. */
static const char *folder_of(const char *path, char *out)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;

    memcpy(out, path, length);
    out[length] = '\0';
    return length ? out : slash ? "/" : ".";
}

bool control_socket_is_trusted(int descriptor, const char *path, uid_t *out_stranger)
{
    char folder[CONTROL_SOCKET_PATH_MAX];
    struct stat information;
    uid_t user;

    if (!read_peer(descriptor, &user))
        return false;
    *out_stranger = user;
    return user == 0 || user == geteuid() ||
           (stat(folder_of(path, folder), &information) == 0 && information.st_uid == user);
}

/* --- listening ------------------------------------------------------------------------------ */

/* Takes the lock; gives up after CONTROL_LOCK_MS and goes on without it. */
static void lock_in_time(int descriptor)
{
    struct clock clock = clock_monotonic();
    uint64_t due_ns = clock_after_ms(&clock, CONTROL_LOCK_MS);

    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || clock_now_ns(&clock) >= due_ns)
            return;
        (void)poll(NULL, 0, LOOK_MS);
    }
}

/*
 * Opens and locks the directory of `path`, so that hosts that start together bind one after the
 * other. Any user who may read the folder can hold the lock: so a host goes on without the lock.
 */
static int lock_directory(const char *path)
{
    char folder[CONTROL_SOCKET_PATH_MAX];
    int descriptor = open(folder_of(path, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0)
        return -errno;
    lock_in_time(descriptor);
    return descriptor;
}

/* Removes an old file at `path`; NULL, or the reason why it cannot. */
static const char *make_way(const char *path)
{
    struct stat information;
    int descriptor;

    if (lstat(path, &information) != 0)
        return errno == ENOENT ? NULL : strerror(errno);
    if (!S_ISSOCK(information.st_mode))
        return "there is a file that is no socket";
    descriptor = control_socket_connect(path, 1);
    if (descriptor >= 0)
        close(descriptor);
    /* A full backlog, too, shows that a host is there; it may be stopped. */
    if (descriptor >= 0 || descriptor == -EAGAIN)
        return "another host listens there";
    if (descriptor != -ECONNREFUSED)
        return strerror(-descriptor);
    return unlink(path) == 0 || errno == ENOENT ? NULL : strerror(errno);
}

/* Binds and listens; NULL, or the reason why it cannot. */
static const char *bind_to(struct control_socket *made)
{
    struct sockaddr_un address;
    struct stat information;

    (void)fill_address(made->path, &address);
    /* Before the file exists, so that it never has a wider mode. */
    if (fchmod(made->descriptor, MODE) != 0 ||
        bind(made->descriptor, (struct sockaddr *)&address, sizeof address) != 0)
        return strerror(errno);
    /* Again, since the umask may have removed bits. */
    if (chmod(made->path, MODE) != 0 || lstat(made->path, &information) != 0 ||
        listen(made->descriptor, BACKLOG) != 0) {
        const char *reason = strerror(errno);

        (void)unlink(made->path);
        return reason;
    }
    made->device = information.st_dev;
    made->inode = information.st_ino;
    return NULL;
}

static int refuse(struct report *report, const struct mark *mark, const char *path,
                  const char *reason)
{
    report_add(report, mark, "host.control", "cannot listen at %s: %s", path, reason);
    return WEIR_EINVALID;
}

/* True when the service manager listens there: its socket is the host's. */
static bool inherit(struct control_socket *made)
{
    struct stat information;

    made->descriptor = inherited_listener(made->path);
    if (made->descriptor < 0)
        return false;
    if (lstat(made->path, &information) == 0) {
        made->device = information.st_dev;
        made->inode = information.st_ino;
    }
    made->inherited = true;
    return true;
}

int control_socket_listen(const char *path, const struct mark *mark, struct report *report,
                          struct control_socket *out)
{
    struct control_socket made = { .descriptor = -1 };
    struct sockaddr_un address;
    const char *reason;
    int lock;

    if (fill_address(path, &address) != 0) {
        report_add(report, mark, "host.control", "is longer than the %zu bytes of a socket's path",
                   sizeof address.sun_path - 1);
        return WEIR_EINVALID;
    }
    memcpy(made.path, address.sun_path, sizeof made.path);
    if (inherit(&made)) {
        *out = made;
        return 0;
    }
    lock = lock_directory(path);
    if (lock < 0)
        return refuse(report, mark, path, strerror(-lock));
    made.descriptor = make_socket();
    reason = made.descriptor < 0 ? strerror(-made.descriptor) : make_way(path);
    if (!reason)
        reason = bind_to(&made);
    close(lock);
    if (!reason) {
        *out = made;
        return 0;
    }
    if (made.descriptor >= 0)
        close(made.descriptor);
    return refuse(report, mark, path, reason);
}

bool control_socket_is_at(const struct control_socket *made, const char *path)
{
    struct stat information;

    return lstat(path, &information) == 0 && information.st_dev == made->device &&
           information.st_ino == made->inode;
}

void control_socket_remove(struct control_socket *made)
{
    if (!made->inherited && control_socket_is_at(made, made->path))
        (void)unlink(made->path);
}

void control_socket_close(struct control_socket *made)
{
    control_socket_remove(made);
    close(made->descriptor);
}
