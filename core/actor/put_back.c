/* SPDX-License-Identifier: MIT */
#include "actor/put_back.h"

#include "actor/front.h"
#include "actor/kept.h"
#include "actor/misuse.h"
#include "actor/request.h"
#include "actor/settle.h"

/* Reports a misuse. In `close`, what was kept is settled already. */
static int refuse(struct actor *actor)
{
    if (!(actor->flags & ACTOR_CLOSING))
        misuse_report(actor, MISUSE_PUT_BACK, 0);
    return WEIR_EINVALID;
}

int put_back(struct actor *actor, struct message *message)
{
    bool is_current = message == actor->current;
    struct actor_ext *ext;

    if (!message || (!is_current && !kept_has(actor, message)))
        return refuse(actor);
    if (message->public.reserved & MESSAGE_OUTSIDE_LEDGER)
        return WEIR_EINVALID;
    ext = actor_ext_get(actor);
    if (!ext)
        return WEIR_ENOMEM;
    if (is_current)
        actor->current = NULL;
    else
        kept_remove(actor, message);
    message->public.reserved &= ~(uint32_t)MESSAGE_KEPT;
    if (message->public.kind == WEIR_REQUEST)
        request_put_back(actor, message);
    settle_hold(actor);
    front_put_back(actor, ext, message);
    return 0;
}
