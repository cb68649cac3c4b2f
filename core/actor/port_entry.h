/* SPDX-License-Identifier: MIT */
/*
 * actor/port_entry.h - how a thread outside enters the runtime through a port that is open.
 *
 * Any thread.
 */
#ifndef ACTOR_PORT_ENTRY_H
#define ACTOR_PORT_ENTRY_H

#include <stdatomic.h>

#include <weir/port.h>

#include "base/lock.h"
#include "message/layout.h"

struct executor;
struct memory;
struct place;
struct runtime;
struct external_requests;

struct port {
    struct weir_port public; /* first */
    _Atomic uint32_t references;
    weir_pid pid;    /* const */
    weir_pid parent; /* const: of a child; 0: it is none */
    weir_pid part;   /* const: of the part that the actor belongs to; see askers.h */
    uint32_t life;   /* const: the actor's incarnation; see actor_ext.h */
    struct external_requests *external_requests; /* const; counted */
    struct memory *memory;                       /* const; counted */
    struct lock lock;
    struct runtime *runtime; /* lock; NULL = closed */
    struct place *place;     /* const; used while open, under lock; NULL: the actor has none */
};

static inline struct port *port_of(struct weir_port *public)
{
    return (struct port *)(void *)public;
}

/* Marks a message of the port's thread for its own worker, or the parent of that: actor/own.h. */
static inline void port_mark_own(const struct port *port, weir_pid to, struct weir_message *message)
{
    if (to == port->pid || (to && to == port->parent))
        message->reserved |= MESSAGE_OWN;
}

/* The message was refused. Returns the status. */
static inline int port_unmark_own(struct weir_message *message, int status)
{
    if (status != 0)
        message->reserved &= ~(uint32_t)MESSAGE_OWN;
    return status;
}

/* WEIR_ECLOSED instead of the status of a send to the port's own actor that has ended since. */
static inline int port_closed_if_gone(int status)
{
    return status == WEIR_ETERMINATED || status == WEIR_EUNKNOWN ? WEIR_ECLOSED : status;
}

/* An executor of the runtime, which is not destroyed before runtime_give_back. WEIR_ECLOSED,
 * WEIR_ENOMEM. */
int port_borrow(struct port *port, struct executor **out);

/* An executor in a read section: runtime_leave is due. WEIR_ECLOSED, WEIR_ENOMEM. */
int port_enter(struct port *port, struct executor **out);

/* As port_enter, for a thread that is about to ask `to`: see askers.h. */
int port_enter_to(struct port *port, weir_pid to, struct executor **out);

/* As port_hold, for a thread that is about to ask `to`. WEIR_ENOMEM. */
int port_hold_to(struct port *port, weir_pid to, struct runtime **out);

/* The runtime, in which the thread may wait: port_release is due. Until then the worker is in use:
 * see place_is_engaged. WEIR_ECLOSED. */
int port_hold(struct port *port, struct runtime **out);
void port_release(struct port *port, struct runtime *runtime);

/* The thread begins to wait, or does not wait any more, while it holds no runtime. */
void port_engage(struct port *port, int32_t by);

#endif
