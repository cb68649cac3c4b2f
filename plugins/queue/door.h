/* SPDX-License-Identifier: MIT */
/*
 * door.h - the socket FILE.sock, by which `weir queue` reaches the process that has a file.
 *
 * One packet is an order, and one the answer. The socket has mode 0600, and only root and the user
 * of the host are served. It is there while the hub has the file; one that a killed host has left
 * refuses connections, and the next hub removes it.
 */
#ifndef DOOR_H
#define DOOR_H

#include <sys/types.h>

#include "order.h"

struct door;

/* Opens the socket beside the file, and serves it in a thread of its own: `serve` gets each order.
 * Returns owned; NULL: there is none, since a name is too long or another reason. */
struct door *door_open(const char *path,
                       void (*serve)(void *context, int asker, const struct order *order,
                                     struct order_answer *out),
                       void *context);
/* False: the asker has hung up, or the time of the order is over. */
bool door_is_waited_for(int asker, const struct order *order);
/* Ends the thread, which is in no call of `serve` then, and removes the socket. NULL is legal. */
void door_close(struct door *door);

/*
 * Asks the process that has the file, within DOOR_ASK_S. Returns 0; -ENOENT, -ECONNREFUSED: no
 * process listens; -EAGAIN: one has not taken the call for DOOR_CONNECT_S; -EPERM: one of another
 * user does; -EPROTO: of another version; -ETIMEDOUT, -ECONNRESET, -EPIPE: it may have the order,
 * and nobody knows what became of it; or another negative errno. Sets `until_ms` of the order.
 */
int door_ask(const char *path, struct order *order, struct order_answer *out, pid_t *out_pid);

#define DOOR_ASK_S 30
#define DOOR_BEGIN_S 25 /* the host begins with an order within them */
#define DOOR_CONNECT_S 5

#endif
