/* SPDX-License-Identifier: MIT */
/*
 * kit_lease.h - leases that the behaviour under test takes: the rows of the host table.
 *
 * A take is a request without a message. weir_kit_answer answers it, with a struct weir_lease that
 * the test makes. A lease is open until the behaviour returns it.
 */
#ifndef SDK_TESTKIT_KIT_LEASE_H
#define SDK_TESTKIT_KIT_LEASE_H

#include "kit.h"

int kit_lease_take(struct weir_self *self, weir_pid pool, uint64_t timeout_ms, weir_then *then,
                   void *context, uint64_t *out_reference);
int kit_lease_send(struct weir_self *self, const struct weir_lease *lease,
                   struct weir_message *message);
int kit_lease_request(struct weir_self *self, const struct weir_lease *lease,
                      struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                      void *context, uint64_t *out_reference);
int kit_lease_return(struct weir_self *self, const struct weir_lease *lease, int how);
int kit_lease_renew(struct weir_self *self, const struct weir_lease *lease);

#endif
