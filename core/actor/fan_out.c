/* SPDX-License-Identifier: MIT */
#include "actor/fan_out.h"

#include "actor/actor.h"
#include "actor/deliver.h"
#include "message/join.h"

struct message *fan_out_copy(struct fan_out *fan_out)
{
    struct message *copy = fan_out->spare;

    fan_out->spare = NULL;
    if (!copy)
        copy = message_copy(&fan_out->executor->cache, fan_out->message);
    if (!copy) {
        fan_out->refused++;
        fan_out->full = true;
        return NULL;
    }
    if ((fan_out->message->public.reserved & ~copy->public.reserved) & MESSAGE_JOINED)
        join_add(copy, fan_out->message);
    return copy;
}

void fan_out_given(struct fan_out *fan_out, struct fan_out_receiver receiver, struct message *copy,
                   int status)
{
    if (status == 0) {
        fan_out->taken++;
        return;
    }
    if (status == WEIR_EFULL && fan_out->left) {
        copy->to = receiver.pool;
        copy->seat = receiver.seat;
        message_list_append(fan_out->left, copy);
        return;
    }
    fan_out->spare = copy;
    if (status == WEIR_ECLOSED || status == WEIR_ETERMINATED)
        return;
    fan_out->refused++;
    fan_out->full |= status == WEIR_EFULL;
}

void fan_out_to_worker(struct fan_out *fan_out, struct fan_out_receiver receiver,
                       struct actor *actor, uint32_t serial)
{
    struct message *copy = fan_out_copy(fan_out);

    if (!copy)
        return;
    fan_out_given(fan_out, receiver, copy,
                  deliver_to_actor(actor, serial, fan_out->executor, copy));
}

void fan_out_finish(struct fan_out *fan_out)
{
    message_destroy(&fan_out->executor->cache, fan_out->spare);
}
