/* SPDX-License-Identifier: MIT */
#include "kit_port_leases.h"

#include "kit_lease.h"

/* Nobody waits for the answer in a turn. */
static void ignore(struct weir_self *self, void *state, void *context,
                   const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    (void)context;
    (void)reply;
}

int kit_port_take_begin(struct weir_port *port, weir_pid pool, uint64_t timeout_ms,
                        uint64_t *out_reference)
{
    struct weir_kit *kit = kit_port_kit(port);

    return kit ? kit_lease_take(&kit->self, pool, timeout_ms, ignore, NULL, out_reference)
               : WEIR_ECLOSED;
}

int kit_port_take(struct weir_port *port, weir_pid pool, uint64_t timeout_ms,
                  struct weir_lease *out)
{
    int status = kit_port_take_begin(port, pool, timeout_ms, NULL);

    (void)out;
    return status == 0 ? WEIR_ETIMEOUT : status;
}

int kit_port_lease_send(struct weir_port *port, const struct weir_lease *lease,
                        struct weir_message *message)
{
    struct weir_kit *kit = kit_port_kit(port);

    return kit ? kit_lease_send(&kit->self, lease, message) : WEIR_ECLOSED;
}

int kit_port_lease_begin(struct weir_port *port, const struct weir_lease *lease,
                         struct weir_message *message, uint64_t timeout_ms, uint64_t *out_reference)
{
    struct weir_kit *kit = kit_port_kit(port);

    return kit ? kit_lease_request(&kit->self, lease, message, timeout_ms, ignore, NULL,
                                   out_reference)
               : WEIR_ECLOSED;
}

int kit_port_lease_return(struct weir_port *port, const struct weir_lease *lease, int how)
{
    struct weir_kit *kit = kit_port_kit(port);

    return kit ? kit_lease_return(&kit->self, lease, how) : WEIR_ECLOSED;
}

int kit_port_lease_renew(struct weir_port *port, const struct weir_lease *lease)
{
    struct weir_kit *kit = kit_port_kit(port);

    return kit ? kit_lease_renew(&kit->self, lease) : WEIR_ECLOSED;
}
