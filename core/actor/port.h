/*
 * actor/port.h - threads of a plugin's own reach its actor: weir/port.h, as the runtime does it.
 *
 * One port an incarnation, counted; the actor's reference is in its extra. While it is open it may
 * enter the runtime; closing it takes that away under its lock, so whoever is inside then is inside
 * by an entry of his own, and the runtime is freed only when nobody is (runtime_destroy). What
 * concerns kept messages is sent to the actor as control, and done in its turn.
 *
 * Any thread, but for port_get, port_arrived and port_drop: owner's turn.
 */
#ifndef ACTOR_PORT_H
#define ACTOR_PORT_H

#include <pthread.h>

#include "actor/actor.h"

#include <weir/port.h>

struct askings;

struct port {
    struct weir_port public; /* first */
    _Atomic uint32_t references;
    weir_pid pid;            /* const */
    uint32_t life;           /* const: of the actor; see extra.h */
    struct askings *askings; /* const; counted */
    struct memory *memory;   /* const; counted */
    pthread_mutex_t lock;
    struct runtime *runtime; /* lock; NULL = closed */
};

/* The port of the present incarnation, counted for the caller; NULL when memory is out. */
struct weir_port *port_get(struct actor *actor);

/* MESSAGE_PORT_REPLY, MESSAGE_PORT_SETTLE came. Takes it. */
void port_arrived(struct actor *actor, struct message *message);

/* The incarnation has ended: nobody comes in any more. Takes the actor's reference. NULL is
 * allowed. */
void port_close(struct port *port);

#endif
