/* SPDX-License-Identifier: MIT */
/*
 * actor/host_table_lease.h - rows of the host table about leases.
 */
#ifndef ACTOR_HOST_TABLE_LEASE_H
#define ACTOR_HOST_TABLE_LEASE_H

#include <weir/host.h>

int host_take(struct weir_self *self, weir_pid pool, uint64_t timeout_ms, weir_then *then,
              void *context, uint64_t *out_reference);
int host_lease_send(struct weir_self *self, const struct weir_lease *lease,
                    struct weir_message *message);
int host_lease_request(struct weir_self *self, const struct weir_lease *lease,
                       struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                       void *context, uint64_t *out_reference);
int host_lease_return(struct weir_self *self, const struct weir_lease *lease, int how);
int host_lease_renew(struct weir_self *self, const struct weir_lease *lease);

#endif
