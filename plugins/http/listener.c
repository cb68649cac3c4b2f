/* SPDX-License-Identifier: MIT */
#include "listener.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/fault.h>

#define BACKLOG 1024 /* connections that the kernel accepts while the source is busy */
#define UNIX_PREFIX "unix:"
#define UNIX_MODE 0660
#define SOCKET_TARGET "socket:[" /* how the link of a socket in /proc/self/fd begins */

/* --- addresses -------------------------------------------------------------------------------- */

static bool parse_unix(const char *path, struct address *out)
{
    struct sockaddr_un *local = (struct sockaddr_un *)(void *)&out->socket;
    size_t length = strlen(path);

    if (path[0] != '/' || length >= sizeof local->sun_path)
        return false;
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, length + 1);
    out->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    return true;
}

static bool parse_port(const char *text, in_port_t *out)
{
    char *end;
    unsigned long port;

    if (text[0] < '1' || text[0] > '9')
        return false;
    port = strtoul(text, &end, 10);
    *out = htons((uint16_t)port);
    return *end == '\0' && port <= UINT16_MAX;
}

static bool parse_ip(const char *host, in_port_t port, struct address *out)
{
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)&out->socket;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&out->socket;

    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = port;
        out->size = sizeof *four;
        return true;
    }
    memset(&out->socket, 0, sizeof out->socket);
    if (strcmp(host, "*") != 0 && inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
        return false;
    six->sin6_family = AF_INET6;
    six->sin6_port = port;
    out->size = sizeof *six;
    return true;
}

bool listener_parse(const char *text, struct address *out)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2];
    size_t length;
    in_port_t port;

    memset(out, 0, sizeof *out);
    if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
        return parse_unix(text + strlen(UNIX_PREFIX), out);
    if (!colon || !parse_port(colon + 1, &port))
        return false;
    length = (size_t)(colon - text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return false;
    }
    if (length >= sizeof host)
        return false;
    memcpy(host, text, length);
    host[length] = '\0';
    return parse_ip(host, port, out);
}

void listener_name(const struct address *address, char name[LISTENER_NAME_MAX])
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)&address->socket;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&address->socket;
    const struct sockaddr_un *local = (const struct sockaddr_un *)(const void *)&address->socket;
    char host[INET6_ADDRSTRLEN] = "";

    if (address->socket.ss_family == AF_UNIX) {
        (void)snprintf(name, LISTENER_NAME_MAX, "http.server unix:%s", local->sun_path);
        return;
    }
    (void)inet_ntop(address->socket.ss_family,
                    address->socket.ss_family == AF_INET ? (const void *)&four->sin_addr
                                                         : (const void *)&six->sin6_addr,
                    host, sizeof host);
    /* The port is at one place in both. */
    (void)snprintf(name, LISTENER_NAME_MAX, "http.server [%s]:%u", host, ntohs(four->sin_port));
}

/* --- a socket that this process has ----------------------------------------------------------- */

static bool is_same(const struct address *address, const struct sockaddr_storage *other)
{
    if (other->ss_family != address->socket.ss_family)
        return false;
    if (other->ss_family == AF_UNIX)
        return strcmp(((const struct sockaddr_un *)(const void *)&address->socket)->sun_path,
                      ((const struct sockaddr_un *)(const void *)other)->sun_path) == 0;
    if (other->ss_family == AF_INET)
        return memcmp(&address->socket, other, offsetof(struct sockaddr_in, sin_zero)) == 0;
    return memcmp(&address->socket, other, sizeof(struct sockaddr_in6)) == 0;
}

static bool listens_at(int descriptor, const struct address *address)
{
    struct sockaddr_storage other = { 0 };
    socklen_t size = sizeof other;
    int listens = 0;
    socklen_t listens_size = sizeof listens;

    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) == 0 &&
           listens && getsockname(descriptor, (struct sockaddr *)&other, &size) == 0 &&
           is_same(address, &other);
}

/* Checks a duplicate, since another thread may close the descriptor at the same time. -1: errno;
 * EBADF: it is another one. */
static int share(int descriptor, const struct address *address)
{
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);

    if (own < 0 || listens_at(own, address))
        return own;
    (void)close(own);
    errno = EBADF;
    return -1;
}

/* Asks the folder and not the descriptor, which another thread may be opening. */
static bool is_socket(DIR *folder, const char *name)
{
    char target[sizeof SOCKET_TARGET] = "";

    return readlinkat(dirfd(folder), name, target, sizeof target - 1) > 0 &&
           strcmp(target, SOCKET_TARGET) == 0;
}

/* A Unix socket whose file was removed is reached by nobody. */
static bool has_lost_file(const struct address *address)
{
    const struct sockaddr_un *local = (const struct sockaddr_un *)(const void *)&address->socket;
    struct stat file;

    return address->socket.ss_family == AF_UNIX && lstat(local->sun_path, &file) != 0 &&
           errno == ENOENT;
}

/* -1: `*out_error` is 0 when there is none, else the errno with which the process could not look:
 * a new socket would find its own address in use. */
static int find(const struct address *address, int *out_error)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    int found = -1, error = folder ? 0 : errno;

    while (folder && found < 0 && error == 0 && (errno = 0, entry = readdir(folder))) {
        int descriptor = (int)strtol(entry->d_name, NULL, 10);

        if (descriptor < 3 || !is_socket(folder, entry->d_name))
            continue;
        found = share(descriptor, address);
        if (found < 0 && errno != EBADF)
            error = errno;
    }
    if (folder && found < 0 && error == 0)
        error = errno;
    if (folder)
        (void)closedir(folder);
    *out_error = weir_is_short(error) ? error : 0;
    return found;
}

/* --- a new one -------------------------------------------------------------------------------- */

/* True when a Unix socket's file is there, and no process listens. */
static bool is_left_over(const struct address *address)
{
    const char *path = ((const struct sockaddr_un *)(const void *)&address->socket)->sun_path;
    struct stat file;
    int probe;
    bool refused;

    /* A connection to a regular file is refused, too. */
    if (address->socket.ss_family != AF_UNIX || lstat(path, &file) != 0 || !S_ISSOCK(file.st_mode))
        return false;
    probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return false;
    refused = connect(probe, (const struct sockaddr *)&address->socket, address->size) != 0 &&
              errno == ECONNREFUSED;
    (void)close(probe);
    return refused;
}

static int attach(int descriptor, const struct address *address)
{
    const struct sockaddr *name = (const struct sockaddr *)&address->socket;
    const char *path = ((const struct sockaddr_un *)(const void *)name)->sun_path;
    int on = 1, off = 0;

    if (name->sa_family != AF_UNIX)
        (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (name->sa_family == AF_INET6)
        (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(descriptor, name, address->size) != 0 &&
        (errno != EADDRINUSE || !is_left_over(address) || unlink(path) != 0 ||
         bind(descriptor, name, address->size) != 0))
        return -1;
    if (name->sa_family == AF_UNIX && chmod(path, UNIX_MODE) != 0)
        return -1;
    return listen(descriptor, BACKLOG);
}

int listener_open(const struct address *address)
{
    int error = 0, descriptor = has_lost_file(address) ? -1 : find(address, &error);

    if (error != 0) {
        errno = error;
        return -1;
    }
    if (descriptor >= 0)
        return fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 ? descriptor : -1;
    descriptor = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0 || attach(descriptor, address) == 0)
        return descriptor;
    error = errno;
    (void)close(descriptor);
    errno = error;
    return -1;
}
