/* SPDX-License-Identifier: MIT */
#include "door.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define READ_MS 1000 /* for the order, since others wait behind */
#define WAITING 8    /* connections */

struct door {
    char *name; /* owned: the path of the socket */
    int listener;
    int end; /* an eventfd: readable when the thread is to end */
    pthread_t thread;
    void (*serve)(void *context, int asker, const struct order *order, struct order_answer *out);
    void *context;
};

/* The address of FILE.sock. The path of a socket is short, so its folder is named by a descriptor:
 * `out_folder`, which the caller closes. */
static int set_address(const char *path, struct sockaddr_un *out, int *out_folder)
{
    const char *base = strrchr(path, '/');
    int length;

    *out_folder = place_open_folder(path);
    if (*out_folder < 0)
        return -errno;
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    length = snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s.sock", *out_folder,
                      base ? base + 1 : path);
    if (length > 0 && (size_t)length < sizeof out->sun_path)
        return 0;
    (void)close(*out_folder);
    *out_folder = -1;
    return -ENAMETOOLONG;
}

/* --- serving ---------------------------------------------------------------------------------- */

static bool is_trusted(int connection)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

/* True: `descriptor` is readable; false: the end has come, or the time is over. */
static bool wait_for(const struct door *door, int descriptor, int timeout_ms)
{
    struct pollfd both[2] = { { descriptor, POLLIN, 0 }, { door->end, POLLIN, 0 } };

    while (poll(both, 2, timeout_ms) < 0 && errno == EINTR)
        ;
    return both[1].revents == 0 && both[0].revents != 0;
}

static int64_t steady_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool door_is_waited_for(int asker, const struct order *order)
{
    struct pollfd look = { asker, POLLRDHUP, 0 };

    return steady_ms() < order->until_ms && poll(&look, 1, 0) == 0;
}

static void serve(struct door *door, int connection)
{
    struct order_answer answer;
    struct order order;
    ssize_t got;

    if (!is_trusted(connection) || !wait_for(door, connection, READ_MS))
        return;
    got = recv(connection, &order, sizeof order, MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0)
        return;
    if (order_is_valid(&order, (size_t)got))
        door->serve(door->context, connection, &order, &answer);
    else
        order_fail(&answer, ORDER_REFUSED, "the command is of another version than the host");
    (void)!send(connection, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *run(void *context)
{
    struct door *door = context;

    while (wait_for(door, door->listener, -1)) {
        int connection = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);

        if (connection < 0) /* out of descriptors: do not try at full speed */
            (void)poll(&(struct pollfd){ door->end, POLLIN, 0 }, 1, READ_MS);
        else
            serve(door, connection);
        if (connection >= 0)
            (void)close(connection);
    }
    return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

/* Only the owner of the lock of the file comes here, so what is there is of a killed host. */
static void remove_socket(const char *name)
{
    struct stat about;

    if (lstat(name, &about) == 0 && S_ISSOCK(about.st_mode))
        (void)unlink(name);
}

/* The mode of the socket is that of its file from the beginning. */
static int bind_socket(const struct door *door, const char *path)
{
    struct sockaddr_un address;
    int folder, status = set_address(path, &address, &folder);

    if (status != 0)
        return status;
    remove_socket(door->name);
    if (fchmod(door->listener, 0600) < 0 ||
        bind(door->listener, (const struct sockaddr *)&address, sizeof address) < 0 ||
        listen(door->listener, WAITING) < 0)
        status = -errno;
    (void)close(folder);
    return status;
}

static void release(struct door *door)
{
    if (door->listener >= 0)
        (void)close(door->listener);
    if (door->end >= 0)
        (void)close(door->end);
    free(door->name);
    free(door);
}

/* A socket that nobody reads is worse than none: who asks there gets no answer. */
static struct door *give_up(struct door *door)
{
    if (door->name)
        remove_socket(door->name);
    release(door);
    return NULL;
}

/* The caller has blocked all signals: its thread is one of the hub. */
struct door *door_open(const char *path,
                       void (*serve_order)(void *context, int asker, const struct order *order,
                                           struct order_answer *out),
                       void *context)
{
    struct door *door = calloc(1, sizeof *door);

    if (!door)
        return NULL;
    door->serve = serve_order;
    door->context = context;
    door->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    door->end = eventfd(0, EFD_CLOEXEC);
    if (door->listener < 0 || door->end < 0 || asprintf(&door->name, "%s.sock", path) < 0 ||
        bind_socket(door, path) != 0 || pthread_create(&door->thread, NULL, run, door) != 0)
        return give_up(door);
    return door;
}

void door_close(struct door *door)
{
    uint64_t one = 1;

    if (!door)
        return;
    remove_socket(door->name);
    (void)!write(door->end, &one, sizeof one);
    (void)pthread_join(door->thread, NULL);
    release(door);
}

/* --- client ----------------------------------------------------------------------------------- */

/* Whoever may write to the folder could listen there. */
static int check_peer(int connection, const char *path, pid_t *out_pid)
{
    struct stat about;
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (lstat(path, &about) < 0 ||
        getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -errno;
    *out_pid = peer.pid;
    return peer.uid == 0 || peer.uid == geteuid() || peer.uid == about.st_uid ? 0 : -EPERM;
}

static int exchange(int connection, struct order *order, struct order_answer *out)
{
    struct timeval limit = { .tv_sec = DOOR_ASK_S };
    ssize_t got;

    (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    order->until_ms = steady_ms() + DOOR_BEGIN_S * 1000;
    if (send(connection, order, sizeof *order, MSG_NOSIGNAL) < 0)
        return -errno;
    got = recv(connection, out, sizeof *out, MSG_TRUNC);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? -ETIMEDOUT : -ECONNRESET;
    if (got == 0)
        return -ECONNRESET;
    return got == (ssize_t)sizeof *out && out->size == sizeof *out ? 0 : -EPROTO;
}

int door_ask(const char *path, struct order *order, struct order_answer *out, pid_t *out_pid)
{
    struct timeval limit = { .tv_sec = DOOR_CONNECT_S };
    struct sockaddr_un address;
    int folder, status = set_address(path, &address, &folder);
    int connection;

    if (status != 0)
        return status;
    connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    /* The limit is also that of connect: the backlog of a host that hangs is full. */
    if (connection < 0 ||
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
        connect(connection, (const struct sockaddr *)&address, sizeof address) < 0)
        status = -errno;
    (void)close(folder);
    if (status == 0)
        status = check_peer(connection, path, out_pid);
    if (status == 0)
        status = exchange(connection, order, out);
    if (connection >= 0)
        (void)close(connection);
    return status;
}
