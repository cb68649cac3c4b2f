/* SPDX-License-Identifier: MIT */
#include "kit_lease.h"

#include "kit_due.h"
#include "kit_origin.h"
#include "kit_send.h"
#include "kit_turn.h"

int kit_lease_take(struct weir_self *self, weir_pid pool, uint64_t timeout_ms, weir_then *then,
                   void *context, uint64_t *out_reference)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = { .at_ms = kit_due_after(kit->now_ms, timeout_ms),
                                 .is_request = true,
                                 .then = then,
                                 .context = context };
    struct weir_kit_sent sent = { .way = WEIR_KIT_TAKE, .to = pool };

    int status = pool ? kit_send_take_room(kit) : WEIR_EUNKNOWN;

    if (status == 0 && kit_allocation_fails(kit))
        status = WEIR_ENOMEM;
    if (status != 0)
        return status;
    sent.reference = kit_due_add(kit, &due);
    kit_send_note(kit, &sent);
    if (out_reference)
        *out_reference = sent.reference;
    return 0;
}

static bool is_open(const struct weir_kit *kit, const struct weir_lease *lease)
{
    for (const struct kit_sent *sent = kit->sent; sent; sent = sent->next)
        if (sent->sent.way == WEIR_KIT_RETURN && sent->sent.token == lease->token)
            return false;
    return lease->token != 0;
}

int kit_lease_send(struct weir_self *self, const struct weir_lease *lease,
                   struct weir_message *message)
{
    if (kit_origin_is_set(message))
        return WEIR_EINVALID;
    return is_open(kit_of(self), lease)
               ? kit_send_message(self, lease->member, WEIR_NORMAL, message)
               : WEIR_ENOTALLOWED;
}

int kit_lease_request(struct weir_self *self, const struct weir_lease *lease,
                      struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                      void *context, uint64_t *out_reference)
{
    if (kit_origin_is_set(message))
        return WEIR_EINVALID;
    return is_open(kit_of(self), lease)
               ? kit_send_request(self, lease->member, WEIR_NORMAL, message, timeout_ms, then,
                                  context, out_reference)
               : WEIR_ENOTALLOWED;
}

int kit_lease_return(struct weir_self *self, const struct weir_lease *lease, int how)
{
    struct weir_kit *kit = kit_of(self);
    const struct weir_kit_sent sent = {
        .way = WEIR_KIT_RETURN, .to = lease->member, .token = lease->token, .how = how
    };

    if (how != WEIR_DONE && how != WEIR_FAIL)
        return WEIR_EINVALID;
    if (!is_open(kit, lease))
        return WEIR_EUNKNOWN;
    kit_send_note(kit, &sent);
    return 0;
}

int kit_lease_renew(struct weir_self *self, const struct weir_lease *lease)
{
    return is_open(kit_of(self), lease) ? 0 : WEIR_EUNKNOWN;
}
