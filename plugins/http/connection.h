/*
 * connection.h - the connections of a server, with one deadline each.
 *
 *     IDLE --request line--> RECEIVING --whole--> REQUESTING --reply--> ANSWERING --sent--> IDLE
 *
 * A request that is refused goes from RECEIVING to ANSWERING. The deadline of REQUESTING is the
 * time-out of the request; connection_expire looks after the others.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "server.h"

enum connection_phase {
    CONNECTION_IDLE = 0,
    CONNECTION_RECEIVING = 1,
    CONNECTION_REQUESTING = 2,
    CONNECTION_ANSWERING = 3,
};

struct connection {
    struct connection *previous, *next;
    struct server *server;
    struct MHD_Connection *handle;
    struct exchange *exchange; /* the present request; NULL = none */
    int descriptor;            /* the library's */
    enum connection_phase phase;
    bool has_left; /* the client ended the connection, or its sending side */
    uint64_t deadline_ms;
    char peer[64]; /* for the access log */
};

/* MHD_NotifyConnectionCallback: makes and frees a connection. */
void connection_changed(void *server, struct MHD_Connection *handle, void **context,
                        enum MHD_ConnectionNotificationCode code);

/* The connection of a handle; NULL: memory was out when it was made. */
struct connection *connection_of(struct MHD_Connection *handle);

/* Enters a phase and sets its deadline. */
void connection_enter(struct connection *connection, enum connection_phase phase);

/* Ends the connection: the library finds it closed. */
void connection_cut(struct connection *connection);

/* Cuts the connections whose deadline is over. */
void connection_expire(struct server *server);

/* Closes the idle connection with the earliest deadline, to make room. False: none is idle. */
bool connection_crowd_out(struct server *server);

/* Leaves idle connections `grace_ms` more for a request that is on its way. */
void connection_shorten_idle(struct server *server, uint64_t grace_ms);

#endif
