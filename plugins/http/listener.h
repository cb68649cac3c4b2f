/* SPDX-License-Identifier: MIT */
/*
 * listener.h - a listening socket of this process, by its address.
 *
 * A reload opens a new source while the old one still runs. Both have a descriptor of one socket:
 * the new source finds the socket among the descriptors of the process. The kernel keeps the socket
 * until the last descriptor is closed, so no connection attempt is refused in between. A socket
 * that the service manager passed to the host is found in the same way.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage socket;
    socklen_t size;
};

/* Reads `127.0.0.1:8080`, `[::1]:8080`, `*:8080` (all addresses of both families) or `unix:/path`.
 * False: it is none of these. */
bool listener_parse(const char *text, struct address *out);

/* Writes what two addresses have in common that share a socket, however they are spelt. */
#define LISTENER_NAME_MAX 160u
void listener_name(const struct address *address, char name[LISTENER_NAME_MAX]);

/*
 * Returns a non-blocking descriptor of a socket that listens at the address; owned. A socket of
 * this process is shared; otherwise it is made. The file of a Unix socket without a listener is
 * replaced. Returns -1 with errno.
 */
int listener_open(const struct address *address);

#endif
