/* SPDX-License-Identifier: MIT */
/*
 * weir/port_leases.h - a plugin's own threads take workers of a pool with `lease` through a port.
 *
 * Part of <weir/plugin.h>: include that. weir/lease.h says what a lease is. The holder is the
 * worker whose port it is: each of its threads, and the worker itself, may use and return the
 * lease. When the incarnation ends, its leases end as those that weir_take gave: returned after a
 * normal end, with the leased worker replaced after a failure. The rules of weir/port_tasks.h
 * apply: a thread of the runtime's dispatchers gets WEIR_EDEADLK when it would wait, and each
 * function also returns WEIR_ECLOSED: the incarnation has ended. Since 1.1.
 *
 *     if (weir_port_take(port, pool, 1000, &lease) == 0) {
 *         status = weir_port_lease_request(port, &lease, message, 1000, &answer);
 *         weir_port_return(port, &lease, status == 0 ? WEIR_DONE : WEIR_FAIL);
 *     }
 */
#ifndef WEIR_PORT_LEASES_H
#define WEIR_PORT_LEASES_H

#include "lease.h"
#include "port_tasks.h"

/*
 * Takes a worker, and waits for one up to `timeout_ms`; 0 = tries once. A wait goes on while
 * `close` runs, and ends with WEIR_ECLOSED and without a lease then. Otherwise as weir_take:
 * WEIR_ETIMEOUT, WEIR_EFULL, WEIR_EUNSUPPORTED, WEIR_EUNKNOWN, WEIR_EDEADLK, WEIR_ENOMEM.
 */
WEIR_INLINE int weir_port_take(struct weir_port *port, weir_pid pool, uint64_t timeout_ms,
                               struct weir_lease *out)
{
    return port->calls->take(port, pool, timeout_ms, out);
}

/*
 * As weir_port_take, without a wait: a reference as of weir_port_begin. The message of the answer
 * has the lease (weir_answer_lease). weir_port_cancel gives the take up, and returns a lease that
 * was given before.
 */
WEIR_INLINE int weir_port_take_begin(struct weir_port *port, weir_pid pool, uint64_t timeout_ms,
                                     uint64_t *out_reference)
{
    return port->calls->take_begin(port, pool, timeout_ms, out_reference);
}

/* The lease in an answer; NULL: it has none. Borrowed until the message of the answer is freed. */
WEIR_INLINE const struct weir_lease *weir_answer_lease(const struct weir_answer *answer)
{
    return answer->message ? (const struct weir_lease *)answer->message->data : NULL;
}

/* As weir_port_send to the leased worker. Takes the message on 0. WEIR_ENOTALLOWED: the lease is
 * over. */
WEIR_INLINE int weir_port_lease_send(struct weir_port *port, const struct weir_lease *lease,
                                     struct weir_message *message)
{
    return port->calls->lease_send(port, lease, message);
}

/* As weir_port_begin to the leased worker. WEIR_ENOTALLOWED: the lease is over. */
WEIR_INLINE int weir_port_lease_begin(struct weir_port *port, const struct weir_lease *lease,
                                      struct weir_message *message, uint64_t timeout_ms,
                                      uint64_t *out_reference)
{
    return port->calls->lease_begin(port, lease, message, timeout_ms, out_reference);
}

/* As weir_port_request to the leased worker: takes the message, and waits for the answer.
 * WEIR_ENOTALLOWED: the lease is over. */
WEIR_INLINE int weir_port_lease_request(struct weir_port *port, const struct weir_lease *lease,
                                        struct weir_message *message, uint64_t timeout_ms,
                                        struct weir_answer *out)
{
    uint64_t reference;
    int status = weir_port_lease_begin(port, lease, message, timeout_ms, &reference);

    if (status != 0) {
        weir_port_message_free(port, message);
        return status;
    }
    status = weir_port_await(port, reference, out);
    if (status == WEIR_EDEADLK || status == WEIR_EINVALID || status == WEIR_ECLOSED)
        (void)weir_port_cancel(port, reference);
    return status;
}

/* As weir_return. */
WEIR_INLINE int weir_port_return(struct weir_port *port, const struct weir_lease *lease, int how)
{
    return port->calls->lease_return(port, lease, how);
}

/* As weir_lease_renew. */
WEIR_INLINE int weir_port_lease_renew(struct weir_port *port, const struct weir_lease *lease)
{
    return port->calls->lease_renew(port, lease);
}

#endif
