/* SPDX-License-Identifier: MIT */
/*
 * link.h - one connection to one of several servers, with two channels.
 *
 * Publishings have a channel of their own: when the server refuses one for good it closes the
 * channel, with all that the channel has. link_reopen opens that channel again; the connection, and
 * the pieces that the other channel has received, stay.
 *
 * Connecting waits, for `timeout` at each step, in a thread of its own: see dial.h. So does a write
 * to a server that reads nothing. Everything that the server sends is read when the descriptor is
 * readable. After a failure the link is down and `error` says why; its user connects again after
 * link_backoff_ms.
 */
#ifndef LINK_H
#define LINK_H

#include <amqp.h>

#include "address.h"
#include "settings.h"

#define LINK_CHANNEL ((amqp_channel_t)1) /* declares, consumes and acknowledges */
#define LINK_PUTS ((amqp_channel_t)2)    /* publishes, with confirms */
#define LINK_ERROR_MAX 400u
#define LINK_REFUSAL_MAX 256u
#define LINK_END_MS 1000u /* a server that does not answer the end gives its pieces to others */

struct link {
    const struct amqp_settings *settings; /* borrowed */
    amqp_connection_state_t connection;   /* owned; NULL = down */
    struct address address;               /* of the present server */
    uint32_t server;                      /* its index in `servers` */
    uint32_t failures;                    /* tries to connect, since something succeeded */
    uint64_t random;
    bool is_blocked;            /* the server takes no publishings, since a resource is scarce */
    bool is_refused;            /* the last failure: a server answered, and refused */
    uint64_t losses;            /* connections that were lost */
    uint64_t server_timeout_ms; /* how long a piece may be unsettled, once the server has said it */
    char error[LINK_ERROR_MAX]; /* why the link is down, for people */
    /* What the server said when it closed LINK_PUTS because of what was sent there; "" = open. */
    char refusal[LINK_REFUSAL_MAX];
};

/* Borrows the settings until link_finish. */
void link_init(struct link *link, const struct amqp_settings *settings);
/* Ends the connection in order when there is one, which waits for LINK_END_MS at most. Legal
 * twice. */
void link_finish(struct link *link);

/* What a connection is for. Borrowed by link_enter. */
struct link_use {
    const char *name; /* of the connection, which the server shows */
    /* Declares what the user needs, by the link's settings alone: it runs in the thread of a dial.
     * 0, or WEIR_EINVALID with `error`. */
    int (*begin)(struct link *link);
};

/* Looks the present server up, and opens the socket, with TLS. The look-up may take longer than
 * `timeout`. Returns 0, or WEIR_EINVALID with `error`. */
int link_open(struct link *link);
/* Logs in, opens both channels, and calls `begin`. Returns 0, or WEIR_EINVALID with `error`. */
int link_enter(struct link *link, const struct link_use *use);
/* Makes the next step of link_enter fail, which another thread is in. */
void link_interrupt(const struct link *link);
/* Moves the connection, or the error, of `from` to a link that is down. Each keeps its settings. */
void link_move(struct link *link, struct link *from);
/* Ends the connection at once, if there is one. */
void link_drop(struct link *link);
/* The next try is at the next server. */
void link_turn(struct link *link);
/* As printf: puts the reason of a failure into `error`. Returns WEIR_EINVALID. */
WEIR_PRINTF(2, 3) int link_fail(struct link *link, const char *format, ...);
/* The same, with the answer of the server to the last call that waits for one. 0: it is good. */
int link_check(struct link *link, const char *what);
/* The same, after a passive declaration, whether the object exists. When it does not, the server
 * has closed the channel, which is opened again. */
int link_check_presence(struct link *link, const char *what, bool *out_exists);
/* Of the clock that never steps. Any thread. */
uint64_t link_now_ms(void);
/* Waits, and sends heartbeats. WEIR_EINVALID with `error`: the connection is lost. */
int link_rest(struct link *link, uint64_t milliseconds);

/* How long to wait before the next link_connect: it doubles up to `backoff_max`, with jitter. */
uint64_t link_backoff_ms(struct link *link);
/* The descriptor to watch. */
int link_descriptor(const struct link *link);
/*
 * Reads one frame, without waiting, and sends a heartbeat when one is due. Returns 1; 0: there is
 * none now; WEIR_EINVALID with `refusal`: call link_reopen; WEIR_EINVALID with `error` alone: the
 * connection is lost, or the server has closed it or the other channel. Borrows from the link until
 * link_release.
 */
int link_read(struct link *link, amqp_frame_t *out_frame);
/* Opens LINK_PUTS again, with new numbers of publishings. WEIR_EINVALID with `error`: the
 * connection is lost. */
int link_reopen(struct link *link);
/* The refusal without the word of its kind, which fits into the reason of a dead letter. */
const char *link_refusal(const struct link *link);
/* Frees what link_read has lent. */
void link_release(struct link *link);

/* Holds small writes back until link_send_held, so that several frames go in one packet. */
void link_hold(const struct link *link);
void link_send_held(const struct link *link);

/* "host:port", for people. */
void link_name_server(const struct link *link, char *out, size_t size);

#endif
