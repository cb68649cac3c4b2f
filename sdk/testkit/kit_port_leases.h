/* SPDX-License-Identifier: MIT */
/*
 * kit_port_leases.h - leases that threads of the worker under test take through its port.
 *
 * A take is noted like one of the worker itself (kit_lease.h). No other thread runs, so no lease
 * comes: a wait for one is over at once, with WEIR_ETIMEOUT.
 */
#ifndef SDK_TESTKIT_KIT_PORT_LEASES_H
#define SDK_TESTKIT_KIT_PORT_LEASES_H

#include "kit.h"

#include <weir/port_leases.h>

int kit_port_take(struct weir_port *port, weir_pid pool, uint64_t timeout_ms,
                  struct weir_lease *out);
int kit_port_take_begin(struct weir_port *port, weir_pid pool, uint64_t timeout_ms,
                        uint64_t *out_reference);
int kit_port_lease_send(struct weir_port *port, const struct weir_lease *lease,
                        struct weir_message *message);
int kit_port_lease_begin(struct weir_port *port, const struct weir_lease *lease,
                         struct weir_message *message, uint64_t timeout_ms,
                         uint64_t *out_reference);
int kit_port_lease_return(struct weir_port *port, const struct weir_lease *lease, int how);
int kit_port_lease_renew(struct weir_port *port, const struct weir_lease *lease);

#endif
