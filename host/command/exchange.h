/* SPDX-License-Identifier: MIT */
/*
 * command/exchange.h - one request to a running host and its answer, within a deadline.
 *
 * Trusts only a host of root, of our own user, or of the user who owns the socket's folder: in a
 * shared folder any user can make a socket and answer anything.
 *
 * Not synchronised. Life of an answer: exchange_run .. exchange_finish.
 */
#ifndef HOST_COMMAND_EXCHANGE_H
#define HOST_COMMAND_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXCHANGE_TIMEOUT_S 10 /* as long as a host waits for a client */

struct exchange {
    const char *path;   /* of the socket */
    const char *target; /* such as /status */
    bool is_post;
    bool wants_json;
    const char *body; /* NULL: none */
    size_t body_size;
    /* The time-out for the connection, and again for the answer. 0: waits for the answer as long as
     * the host is alive; /livez checks that after each EXCHANGE_TIMEOUT_S of silence. */
    uint32_t timeout_s;
};

struct answer {
    unsigned status; /* of HTTP; 0: it is not complete */
    char *text;      /* owned; may be NULL */
    size_t size;
    uid_t stranger; /* with -EPERM: the user of the process that listens there */
};

/*
 * Sends the request. 0, even when no whole answer arrived; a negative errno when the request could
 * not be sent: -EAGAIN the host does not accept, -EPERM another user listens there, -ENAMETOOLONG,
 * -ENOMEM. The caller finishes the answer in every case.
 */
int exchange_run(const struct exchange *exchange, struct answer *out);
void exchange_finish(struct answer *answer);

#endif
