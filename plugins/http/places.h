/* SPDX-License-Identifier: MIT */
/*
 * places.h - which connections give up their places: by their deadlines, and for others.
 */
#ifndef PLACES_H
#define PLACES_H

#include "connection.h"

/* A client waits to be accepted. */
bool places_have_waiting(const struct server *server);

/* Ends the connections whose deadline is over. */
void places_expire(struct server *server);

/* Ends a connection, so that its place is free for another one: one that lingers, then the idle one
 * that was served first, then the oldest without a request, then the oldest half request; none that
 * has bytes in its socket. False: there is none. */
bool places_give_up(struct server *server);

/* The same for a guest: ends the oldest one. */
bool places_give_up_guest(struct server *server);

/* The bytes of half bodies that do not go on: none that got bytes within a second, has some in its
 * socket, or is that of `but`. */
uint64_t places_held_by_bodies(const struct server *server, const struct connection *but);

/* Ends the oldest of them, so that others have its memory; its client gets 503. False: there is
 * none. */
bool places_give_up_body(struct server *server, const struct connection *but);

/* The connection that has the least right to its place: in the same order, of any age, without
 * bytes in its socket or the head of a request. NULL: all have requests. */
struct connection *places_find_silent(struct server *server);

/* Leaves idle connections and half requests `grace_ms` more. */
void places_shorten(struct server *server, uint64_t grace_ms);

#endif
