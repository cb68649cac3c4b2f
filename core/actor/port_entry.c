/* SPDX-License-Identifier: MIT */
#include "actor/port_entry.h"

#include "actor/askers.h"
#include "actor/place.h"
#include "actor/runtime.h"

int port_borrow(struct port *port, struct executor **out)
{
    int status = WEIR_ECLOSED;

    lock_acquire(&port->lock);
    if (port->runtime) {
        *out = runtime_borrow(port->runtime);
        status = *out ? 0 : WEIR_ENOMEM;
    }
    lock_release(&port->lock);
    return status;
}

int port_enter(struct port *port, struct executor **out)
{
    int status = port_borrow(port, out);

    if (status == 0)
        runtime_resume(*out);
    return status;
}

static void engage_locked(struct port *port, int32_t by)
{
    if (port->place)
        place_engage_by_port(port->place, by);
}

void port_engage(struct port *port, int32_t by)
{
    lock_acquire(&port->lock);
    if (port->runtime) /* port_close ends all that its threads wait for */
        engage_locked(port, by);
    lock_release(&port->lock);
}

void port_release(struct port *port, struct runtime *runtime)
{
    port_engage(port, -1);
    runtime_release(runtime);
}

int port_hold(struct port *port, struct runtime **out)
{
    int status = WEIR_ECLOSED;

    lock_acquire(&port->lock);
    if (port->runtime) {
        *out = port->runtime;
        runtime_hold(*out);
        engage_locked(port, 1);
        status = 0;
    }
    lock_release(&port->lock);
    return status;
}

int port_enter_to(struct port *port, weir_pid to, struct executor **out)
{
    int status = port_enter(port, out);

    if (status == 0)
        askers_note_part((*out)->runtime, port->part, to);
    return status;
}

int port_hold_to(struct port *port, weir_pid to, struct runtime **out)
{
    struct executor *executor;
    int status = port_enter_to(port, to, &executor);

    if (status != 0)
        return status;
    runtime_leave(executor);
    return port_hold(port, out);
}
