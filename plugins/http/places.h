/*
 * places.h - which connections give up their places: by their deadlines, and for others.
 */
#ifndef PLACES_H
#define PLACES_H

#include "connection.h"

/* Ends the connections whose deadline is over. */
void connection_expire(struct server *server);

/* Closes the idle connection with the earliest deadline, to make room; without one that has sent
 * nothing, the oldest half request. False: there is none. */
bool connection_crowd_out(struct server *server);

/* Leaves idle connections and half requests `grace_ms` more. */
void connection_shorten(struct server *server, uint64_t grace_ms);

#endif
