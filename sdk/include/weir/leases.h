/* SPDX-License-Identifier: MIT */
/*
 * weir/leases.h - libweir: exclusive use of a worker by the program's own threads.
 *
 * Part of <weir/runtime.h>: include that. The rules of that header apply. A pool gives leases when
 * its options have `lease` 1, also a pool of pools; weir/lease.h says what a lease is. The holder
 * is the program: any of its threads that has the lease may use it. When the program does not
 * return it, the time-out of the pool's leases ends it.
 *
 *     if (weir_runtime_take(runtime, pool, 1000, &lease) == 0) {
 *         status = weir_runtime_lease_ask(runtime, &lease, message, 1000, &answer);
 *         weir_runtime_return(runtime, &lease, status == 0 ? WEIR_DONE : WEIR_FAIL);
 *     }
 */
#ifndef WEIR_LEASES_H
#define WEIR_LEASES_H

#include "messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Takes a worker, and waits for one up to `timeout_ms`; 0 = tries once: WEIR_EFULL unless a worker
 * is free or on its way back after a return, for which it waits up to 100 ms. A thread that must
 * not wait calls weir_runtime_take_request and weir_runtime_on_answer. WEIR_ETIMEOUT. WEIR_EFULL:
 * all workers are in use, and the pool's queue of takers has no room. WEIR_EUNSUPPORTED: the pool
 * gives no leases. WEIR_ECLOSED, WEIR_EUNKNOWN, WEIR_ENOMEM. WEIR_EDEADLK: in a callback.
 */
WEIR_API int weir_runtime_take(struct weir_runtime *runtime, weir_pid pool, uint64_t timeout_ms,
                               struct weir_lease *out);

/*
 * As weir_runtime_take, without a wait: weir_runtime_await fetches the answer, whose message has
 * the lease (weir_answer_lease), or weir_runtime_cancel gives the take up; it returns a lease that
 * was given before. With WEIR_ETIMEOUT the detail of the answer is the reason why the last worker
 * did not open, if no other one has opened since.
 */
WEIR_API int weir_runtime_take_request(struct weir_runtime *runtime, weir_pid pool,
                                       uint64_t timeout_ms, uint64_t *out_reference);

/* As weir_runtime_send to the leased worker. WEIR_ENOTALLOWED: the lease is over. */
WEIR_API int weir_runtime_lease_send(struct weir_runtime *runtime, const struct weir_lease *lease,
                                     struct weir_message *message);

/* As weir_runtime_request to the leased worker. WEIR_ENOTALLOWED: the lease is over. */
WEIR_API int weir_runtime_lease_request(struct weir_runtime *runtime,
                                        const struct weir_lease *lease,
                                        struct weir_message *message, uint64_t timeout_ms,
                                        uint64_t *out_reference);

/* As weir_runtime_ask to the leased worker. */
WEIR_INLINE int weir_runtime_lease_ask(struct weir_runtime *runtime, const struct weir_lease *lease,
                                       struct weir_message *message, uint64_t timeout_ms,
                                       struct weir_answer *out)
{
    uint64_t reference;
    int status = weir_runtime_lease_request(runtime, lease, message, timeout_ms, &reference);

    if (status != 0) {
        weir_runtime_message_free(runtime, message);
        return status;
    }
    status = weir_runtime_await(runtime, reference, out);
    if (status == WEIR_EDEADLK || status == WEIR_EINVALID)
        (void)weir_runtime_cancel(runtime, reference);
    return status;
}

/* As weir_return. WEIR_ENOTALLOWED: a worker holds it. */
WEIR_API int weir_runtime_return(struct weir_runtime *runtime, const struct weir_lease *lease,
                                 int how);

/* As weir_lease_renew. */
WEIR_API int weir_runtime_lease_renew(struct weir_runtime *runtime, const struct weir_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
