/* SPDX-License-Identifier: MIT */
/* Leases of the program's threads: see weir/leases.h. */
#include "embed/part.h"

int weir_runtime_take(struct weir_runtime *runtime, weir_pid pool, uint64_t timeout_ms,
                      struct weir_lease *out)
{
    return runtime_take_wait(runtime->core, NULL, pool, timeout_ms, out);
}

int weir_runtime_take_request(struct weir_runtime *runtime, weir_pid pool, uint64_t timeout_ms,
                              uint64_t *out_reference)
{
    return runtime_take(runtime->core, NULL, pool, timeout_ms, out_reference);
}

int weir_runtime_lease_send(struct weir_runtime *runtime, const struct weir_lease *lease,
                            struct weir_message *message)
{
    return runtime_lease_send(runtime->core, LEASE_OF_PROGRAM, lease, message);
}

int weir_runtime_lease_request(struct weir_runtime *runtime, const struct weir_lease *lease,
                               struct weir_message *message, uint64_t timeout_ms,
                               uint64_t *out_reference)
{
    return runtime_lease_request(runtime->core, lease, message, timeout_ms, out_reference);
}

int weir_runtime_return(struct weir_runtime *runtime, const struct weir_lease *lease, int how)
{
    return runtime_lease_return(runtime->core, LEASE_OF_PROGRAM, lease, how);
}

int weir_runtime_lease_renew(struct weir_runtime *runtime, const struct weir_lease *lease)
{
    return runtime_lease_renew(runtime->core, LEASE_OF_PROGRAM, lease);
}
