/* SPDX-License-Identifier: MIT */
#include "actor/port_leases.h"

#include "actor/port_entry.h"
#include "actor/runtime.h"
#include "face/leases.h"

static bool is_closed(struct port *port)
{
    bool is_closed;

    lock_acquire(&port->lock);
    is_closed = !port->runtime;
    lock_release(&port->lock);
    return is_closed;
}

int port_take(struct weir_port *public, weir_pid pool, uint64_t timeout_ms, struct weir_lease *out)
{
    struct port *port = port_of(public);
    const struct lease_holder holder = { port->pid, port->life };
    struct weir_lease lease;
    struct runtime *runtime;
    int status = port_hold_to(port, pool, &runtime);

    if (status != 0)
        return status;
    status = runtime_take_wait(runtime, &holder, pool, timeout_ms, &lease);
    if (status == 0 && is_closed(port)) { /* the next incarnation knows nothing of this lease */
        (void)runtime_lease_return(runtime, port->pid, &lease, WEIR_DONE);
        status = WEIR_ECLOSED;
    }
    port_release(port, runtime);
    if (status == 0)
        *out = lease;
    return status;
}

int port_take_begin(struct weir_port *public, weir_pid pool, uint64_t timeout_ms,
                    uint64_t *out_reference)
{
    struct port *port = port_of(public);
    const struct lease_holder holder = { port->pid, port->life };
    struct runtime *runtime;
    int status = port_hold_to(port, pool, &runtime);

    if (status != 0)
        return status;
    status = runtime_take(runtime, &holder, pool, timeout_ms, out_reference);
    port_release(port, runtime);
    return status;
}

int port_lease_send(struct weir_port *public, const struct weir_lease *lease,
                    struct weir_message *message)
{
    struct port *port = port_of(public);
    struct runtime *runtime;
    int status = port_hold(port, &runtime);

    if (status != 0)
        return status;
    status = runtime_lease_send(runtime, port->pid, lease, message);
    port_release(port, runtime);
    return status;
}

int port_lease_begin(struct weir_port *public, const struct weir_lease *lease,
                     struct weir_message *message, uint64_t timeout_ms, uint64_t *out_reference)
{
    struct runtime *runtime;
    int status = port_hold(port_of(public), &runtime);

    if (status != 0)
        return status;
    status = runtime_lease_request(runtime, lease, message, timeout_ms, out_reference);
    port_release(port_of(public), runtime);
    return status;
}

int port_lease_return(struct weir_port *public, const struct weir_lease *lease, int how)
{
    struct port *port = port_of(public);
    struct runtime *runtime;
    int status = port_hold(port, &runtime);

    if (status != 0)
        return status;
    status = runtime_lease_return(runtime, port->pid, lease, how);
    port_release(port, runtime);
    return status;
}

int port_lease_renew(struct weir_port *public, const struct weir_lease *lease)
{
    struct port *port = port_of(public);
    struct runtime *runtime;
    int status = port_hold(port, &runtime);

    if (status != 0)
        return status;
    status = runtime_lease_renew(runtime, port->pid, lease);
    port_release(port, runtime);
    return status;
}
