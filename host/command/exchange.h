/*
 * command/exchange.h - one request to a running host and its answer, within a deadline.
 *
 * Only a host of root, of our own user, or of the user who owns the socket's folder is asked: a
 * socket in a shared folder may be anybody's, and says what its owner likes.
 *
 * Not synchronised. Life of an answer: exchange_run .. exchange_finish.
 */
#ifndef HOST_COMMAND_EXCHANGE_H
#define HOST_COMMAND_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXCHANGE_PATIENCE_S 10 /* as long as a host gives a client */

struct exchange {
    const char *path;   /* of the socket */
    const char *target; /* such as /status */
    bool is_post;
    bool wants_json;
    /* For the connection, and for the answer, each. 0: for the answer as long as the host is alive,
     * which is asked by /livez whenever it was silent for EXCHANGE_PATIENCE_S. */
    uint32_t patience_s;
};

struct answer {
    unsigned status; /* of HTTP; 0: it is not complete */
    char *text;      /* owned; may be NULL */
    size_t size;
    uid_t stranger; /* with -EPERM: who listens there */
};

/*
 * Asks. 0, also when no whole answer came; a negative errno when nobody could be asked: -EAGAIN the
 * host does not accept, -EPERM somebody else listens there, -ENAMETOOLONG, -ENOMEM. The answer is
 * to be finished whatever comes of it.
 */
int exchange_run(const struct exchange *exchange, struct answer *out);
void exchange_finish(struct answer *answer);

#endif
