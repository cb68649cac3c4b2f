/* SPDX-License-Identifier: MIT */
/*
 * face/leases.h - leases of threads outside: see weir/leases.h and weir/port_leases.h.
 *
 * `holder` is the worker for whose threads the lease is; LEASE_OF_PROGRAM: the program's threads.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_LEASES_H
#define FACE_LEASES_H

#include <weir/message.h>

struct runtime;

#define LEASE_OF_PROGRAM 0

/* Holds a lease: one incarnation of a worker. */
struct lease_holder {
    weir_pid pid;
    uint32_t life; /* which incarnation: see actor/actor_ext.h */
};

/* As weir_runtime_take_request. `holder` NULL: the program. */
int runtime_take(struct runtime *runtime, const struct lease_holder *holder, weir_pid pool,
                 uint64_t timeout_ms, uint64_t *out_reference);

/* As weir_runtime_take. Likewise. */
int runtime_take_wait(struct runtime *runtime, const struct lease_holder *holder, weir_pid pool,
                      uint64_t timeout_ms, struct weir_lease *out);

/* Takes the message on 0. WEIR_ENOTALLOWED. */
int runtime_lease_send(struct runtime *runtime, weir_pid holder, const struct weir_lease *lease,
                       struct weir_message *message);

/* Takes the message on 0. WEIR_ENOTALLOWED. */
int runtime_lease_request(struct runtime *runtime, const struct weir_lease *lease,
                          struct weir_message *message, uint64_t timeout_ms,
                          uint64_t *out_reference);

/* As weir_return. */
int runtime_lease_return(struct runtime *runtime, weir_pid holder, const struct weir_lease *lease,
                         int how);

/* As weir_lease_renew. */
int runtime_lease_renew(struct runtime *runtime, weir_pid holder, const struct weir_lease *lease);

#endif
