/* SPDX-License-Identifier: MIT */
/* Leases of threads outside: face/leases.h. */
#include "actor/external_await.h"
#include "actor/external_request.h"
#include "actor/lease.h"
#include "actor/leases.h"
#include "actor/runtime.h"
#include "face/leases.h"
#include "face/messages.h"

static int request(struct runtime *runtime, const struct external_request_options *options,
                   struct message *message, uint64_t *out_reference)
{
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    if (!message)
        message = options->holder ? lease_make_take(executor, *options->holder, "")
                                  : message_create(&executor->cache, NULL, 0);
    status = message ? external_request_send(runtime, executor, options, message, out_reference)
                     : WEIR_ENOMEM;
    if (status != 0 && options->takes)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    return status;
}

int runtime_take(struct runtime *runtime, const struct lease_holder *holder, weir_pid pool,
                 uint64_t timeout_ms, uint64_t *out_reference)
{
    const struct external_request_options options = {
        .to = pool, .timeout_ms = timeout_ms, .takes = true, .holder = holder
    };

    return request(runtime, &options, NULL, out_reference);
}

/* A free member, without a request. False: the thread has to send one. */
static bool take_free(struct runtime *runtime, weir_pid pool, struct weir_lease *out)
{
    struct executor *executor = runtime_enter(runtime);
    bool is_lent;

    if (!executor)
        return false;
    is_lent = leases_lend(runtime, executor, pool, out);
    runtime_leave(executor);
    return is_lent;
}

int runtime_take_wait(struct runtime *runtime, const struct lease_holder *holder, weir_pid pool,
                      uint64_t timeout_ms, struct weir_lease *out)
{
    struct external_request_answer answer = { 0 };
    uint64_t reference;
    int status = WEIR_EDEADLK;

    if (!runtime_is_own_thread(runtime)) {
        if (!holder && take_free(runtime, pool, out))
            return 0;
        status = runtime_take(runtime, holder, pool, timeout_ms, &reference);
    }
    if (status == 0)
        status = external_requests_await(runtime->external_requests, reference, &answer);
    if (status != 0)
        return status;
    *out = *(const struct weir_lease *)answer.reply->public.data;
    runtime_message_free(runtime, &answer.reply->public);
    return 0;
}

int runtime_lease_send(struct runtime *runtime, weir_pid holder, const struct weir_lease *lease,
                       struct weir_message *message)
{
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    message->from = holder;
    status = leases_send(runtime, executor, lease, message_of(message));
    runtime_leave(executor);
    return status;
}

int runtime_lease_request(struct runtime *runtime, const struct weir_lease *lease,
                          struct weir_message *message, uint64_t timeout_ms,
                          uint64_t *out_reference)
{
    const struct external_request_options options = { .timeout_ms = timeout_ms, .under = lease };

    return request(runtime, &options, message_of(message), out_reference);
}

int runtime_lease_return(struct runtime *runtime, weir_pid holder, const struct weir_lease *lease,
                         int how)
{
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = leases_return(runtime, executor, lease, holder, how);
    runtime_leave(executor);
    return status;
}

int runtime_lease_renew(struct runtime *runtime, weir_pid holder, const struct weir_lease *lease)
{
    struct executor *executor = runtime_enter(runtime);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = leases_renew(runtime, executor, lease, holder);
    runtime_leave(executor);
    return status;
}
