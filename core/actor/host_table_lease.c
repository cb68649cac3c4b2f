/* SPDX-License-Identifier: MIT */
#include "actor/host_table_lease.h"

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/giving.h"
#include "actor/lease.h"
#include "actor/leases.h"
#include "actor/output.h"
#include "actor/request.h"

static int take(struct actor *actor, const struct request_options *options, uint64_t *out_reference)
{
    const struct actor_ext *ext = actor_ext_get(actor);
    const struct lease_holder holder = { actor_pid(actor), ext ? ext->life : 0 };
    struct message *message = ext ? lease_make_take(actor->executor, holder, place_path(actor))
                                  : NULL;
    int status = message ? request_send(actor, options, message, out_reference) : WEIR_ENOMEM;

    if (status != 0)
        message_destroy(&actor->executor->cache, message);
    return status;
}

int host_take(struct weir_self *self, weir_pid pool, uint64_t timeout_ms, weir_then *then,
              void *context, uint64_t *out_reference)
{
    const struct request_options options = {
        .to = pool, .timeout_ms = timeout_ms, .then = then, .context = context, .takes = true
    };
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor)       ? WEIR_ETERMINATED
                 : output_refuses(actor, pool) ? WEIR_EFULL
                                               : take(actor, &options, out_reference);

    callback_leave_host(actor);
    return status;
}

int host_lease_send(struct weir_self *self, const struct weir_lease *lease,
                    struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(message));

    if (status == 0) {
        message->from = actor_pid(actor);
        status = giving_end(message_of(message), leases_send(actor->runtime, actor->executor, lease,
                                                             message_of(message)));
    }
    if (status == WEIR_EFULL)
        executor_give_way(actor->executor);
    callback_leave_host(actor);
    return status;
}

int host_lease_request(struct weir_self *self, const struct weir_lease *lease,
                       struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                       void *context, uint64_t *out_reference)
{
    const struct request_options options = {
        .timeout_ms = timeout_ms, .then = then, .context = context, .under = lease
    };
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(message));

    if (status == 0)
        status = giving_end(message_of(message),
                            request_send(actor, &options, message_of(message), out_reference));
    callback_leave_host(actor);
    return status;
}

int host_lease_return(struct weir_self *self, const struct weir_lease *lease, int how)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor)
                     ? WEIR_ETERMINATED
                     : leases_return(actor->runtime, actor->executor, lease, actor_pid(actor), how);

    callback_leave_host(actor);
    return status;
}

int host_lease_renew(struct weir_self *self, const struct weir_lease *lease)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor)
                     ? WEIR_ETERMINATED
                     : leases_renew(actor->runtime, actor->executor, lease, actor_pid(actor));

    callback_leave_host(actor);
    return status;
}
