/* SPDX-License-Identifier: MIT */
/*
 * actor/port.h - implements weir/port.h, by which a plugin's own threads reach its actor.
 *
 * One port for each incarnation, counted; the actor's reference is in its optional state. An open
 * port may enter the runtime. Closing forbids that, under its lock. A thread that is inside then
 * has its own entry, and the runtime is freed only after all threads have left their entries
 * (runtime_stop). Operations on kept messages are sent to the actor as control, and done in its
 * turn.
 *
 * Any thread; port_get, port_arrived and port_drop: owner's turn.
 */
#ifndef ACTOR_PORT_H
#define ACTOR_PORT_H

#include "actor/actor.h"
#include "actor/port_entry.h"

/* The port of the present incarnation, counted for the caller; NULL when memory is out. */
struct weir_port *port_get(struct actor *actor);

/* Handles MESSAGE_PORT_REPLY and MESSAGE_PORT_SETTLE. Takes it. */
void port_arrived(struct actor *actor, struct message *message);

/* The incarnation has ended: closes its port. Takes the actor's reference. NULL is allowed. */
void port_close(struct port *port);

#endif
