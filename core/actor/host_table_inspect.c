/* SPDX-License-Identifier: MIT */
#include "actor/host_table_inspect.h"

#include "actor/callback.h"
#include "actor/inspect.h"
#include "actor/request.h"

int host_inspect(struct weir_self *self, weir_pid other, const char *const *items,
                 uint64_t timeout_ms, weir_then *then, void *context, uint64_t *out_reference)
{
    const struct request_options options = {
        .to = other, .timeout_ms = timeout_ms, .then = then, .context = context, .inspects = true
    };
    struct actor *actor = callback_enter_host(self);
    struct message *message = NULL;
    int status = then ? inspect_make(&actor->executor->cache, items, &message) : WEIR_EINVALID;

    if (callback_is_left(actor))
        status = WEIR_ETERMINATED;
    if (status == 0)
        status = request_send(actor, &options, message, out_reference);
    if (status != 0)
        message_destroy(&actor->executor->cache, message);
    callback_leave_host(actor);
    return status;
}
