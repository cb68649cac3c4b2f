/* SPDX-License-Identifier: MIT */
/*
 * actor/port_leases.h - rows of the table of a port: leases. See <weir/port_leases.h>.
 *
 * They call the face that libweir calls (face/leases.h), with the port's actor as the holder. A
 * thread holds the runtime while it waits for a lease, so that it can return a lease that comes
 * after the port was closed.
 */
#ifndef ACTOR_PORT_LEASES_H
#define ACTOR_PORT_LEASES_H

#include <weir/port_leases.h>

int port_take(struct weir_port *public, weir_pid pool, uint64_t timeout_ms, struct weir_lease *out);
int port_take_begin(struct weir_port *public, weir_pid pool, uint64_t timeout_ms,
                    uint64_t *out_reference);
int port_lease_send(struct weir_port *public, const struct weir_lease *lease,
                    struct weir_message *message);
int port_lease_begin(struct weir_port *public, const struct weir_lease *lease,
                     struct weir_message *message, uint64_t timeout_ms, uint64_t *out_reference);
int port_lease_return(struct weir_port *public, const struct weir_lease *lease, int how);
int port_lease_renew(struct weir_port *public, const struct weir_lease *lease);

#endif
