/* SPDX-License-Identifier: MIT */
/*
 * session.h - keeps a link up for a behaviour: reads its frames, sends its heartbeats, connects
 * again after a failure.
 *
 * Life: session_init .. session_start .. session_finish. All calls are of one actor.
 */
#ifndef SESSION_H
#define SESSION_H

#include "dial.h"
#include "link.h"

/* The callbacks of a session. `user` is the pointer that session_init got. */
struct session_calls {
    /* For struct link_use: declares what the behaviour uses. */
    int (*begin)(struct link *link);
    /* The connection is there, and `begin` has succeeded. */
    void (*up)(void *user);
    /* Takes one frame, which it borrows. False, with the link's error: the connection is lost. */
    bool (*take)(struct weir_self *self, void *user, const amqp_frame_t *frame);
    /* Frames were read, or the link has come up or gone down. */
    void (*ready)(struct weir_self *self, void *user);
    /* The server has refused what was sent on LINK_PUTS; the link's `refusal` says why. The channel
     * is opened again after the call, with nothing unconfirmed. */
    void (*refused)(struct weir_self *self, void *user);
    /* The connection is lost: unsettled pieces now belong to other consumers. */
    void (*lost)(struct weir_self *self, void *user);
};

struct session {
    struct link link;
    const struct session_calls *calls; /* const */
    void *user;
    uint64_t watch;    /* 0 = none */
    uint64_t up_since; /* milliseconds */
    struct dial *dial; /* owned; NULL = connects to no server now */
    uint64_t dial_watch, dial_timer;
    uint32_t tries;               /* servers that were tried since the last back-off */
    char refusal[LINK_ERROR_MAX]; /* of the last of them that refused; "" = none */
    bool reconnects;              /* a timer runs until the next try to connect */
    uint64_t heard_at; /* when the server was heard last, or asked to end; milliseconds */
    bool is_leaving;   /* connects no more */
    bool was_blocked;  /* the log says that the server takes no messages */
};

/* Borrows the settings and the user until session_finish. */
void session_init(struct session *session, const struct amqp_settings *settings,
                  const struct session_calls *calls, void *user);
/* Ends the connection in order, or lets go of a try to connect. Legal twice. */
void session_finish(struct session *session);
/* For `open`: connects, or returns a status after weir_reason. Without `must_connect` it waits for
 * `timeout` at most, and a server that is not there is tried again later. */
int session_start(struct weir_self *self, struct session *session);
/* True while there is a connection. */
bool session_is_up(const struct session *session);
/* Something succeeded on this connection: the next back-off begins at its shortest. */
void session_succeed(struct session *session);
/* Connects no more. Wakes the behaviour from time to time, so that it can ask session_is_heard. */
void session_leave(struct weir_self *self, struct session *session);
/* After session_leave: there is a connection, and the server has said something not long ago. */
bool session_is_heard(struct weir_self *self, const struct session *session);
/* The connection is lost, for the reason in the link's error. */
void session_lose(struct weir_self *self, struct session *session);
/* Reports the units that both behaviours have, for `weir status` and the metrics. */
void session_report(struct weir_self *self, const struct session *session, uint64_t queue_length);
/* Adds the figures that both behaviours have. */
void session_inspect(const struct session *session, struct weir_inspection *out);

#endif
